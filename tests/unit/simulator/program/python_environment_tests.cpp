// SPDX-License-Identifier: Apache-2.0
#include "simulator/program/python_environment.h"

#include "temporary_folder.h"
#include "tests/unit/catch.h"

using namespace memtrace::simulator;
namespace fs = std::filesystem;

TEST_CASE("the interpreter is found behind whatever starts it") {
  const temporary_folder folder;
  const fs::path python = folder.write("bin/python3",
                                       "\x7f"
                                       "ELF",
                                       true);
  folder.write("bin/torchrun", "#!" + python.string() + "\nprint()\n", true);
  folder.write("bin/accelerate", "#!/usr/bin/env python3\nprint()\n", true);
  folder.write("bin/pytest",
               "#!/bin/sh\n'''exec' \"" + python.string() + "\" \"$0\" \"$@\"\n' '''\n", true);
  folder.write("bin/timeout",
               "\x7f"
               "ELF",
               true);
  folder.write("bin/run.sh", "#!/bin/sh\nexec python3 train.py\n", true);
  const variable_guard path("PATH", (folder.path() / "bin").string());
  const variable_guard environment("VIRTUAL_ENV", "");

  CHECK(find_interpreter({"python3", "train.py"}) == python);
  CHECK(find_interpreter({python.string(), "train.py"}) == python);
  CHECK(find_interpreter({"torchrun", "train.py"}) == python);
  CHECK(find_interpreter({"accelerate", "launch"}) == python);
  CHECK(find_interpreter({"pytest"}) == python);
  CHECK(find_interpreter({"timeout", "60", "python3", "train.py"}) == python);
  CHECK(find_interpreter({"run.sh"}) == python);
  CHECK(find_interpreter({"no-such-program"}) == python);
  CHECK(find_interpreter({}) == python);
}

TEST_CASE("a shell gets the active virtual environment's interpreter") {
  const temporary_folder folder;
  folder.write("bin/python3",
               "\x7f"
               "ELF",
               true);
  const fs::path active = folder.write("venv/bin/python",
                                       "\x7f"
                                       "ELF",
                                       true);
  const variable_guard path("PATH", (folder.path() / "bin").string());
  const variable_guard environment("VIRTUAL_ENV", (folder.path() / "venv").string());
  CHECK(find_interpreter({"bash", "-c", "train"}) == active);
}

TEST_CASE("no Python at all is an answer too") {
  const temporary_folder folder;
  const variable_guard path("PATH", folder.path().string());
  const variable_guard environment("VIRTUAL_ENV", "");
  CHECK(find_interpreter({"program"}).empty());
  CHECK(package_folders({}, folder.path()).empty());
}

TEST_CASE("package folders are those that the interpreter names and that hold packages") {
  const temporary_folder folder;
  const fs::path packages = folder.path() / "lib" / "site-packages";
  const fs::path target = folder.path() / "target";
  fs::create_directories(packages);
  fs::create_directories(target / "torch" / "lib");
  const fs::path python = folder.write(
      "bin/python3",
      "#!/bin/sh\nprintf '%s\\n' /usr '" + packages.string() + "' '" + target.string() + "'\n",
      true);
  CHECK(package_folders(python, folder.path()) == std::vector<fs::path>{packages, target});
  const fs::path failing =
      folder.write("bin/python4", "#!/bin/sh\necho " + packages.string() + "\nexit 1\n", true);
  CHECK(package_folders(failing, folder.path()).empty());
}
