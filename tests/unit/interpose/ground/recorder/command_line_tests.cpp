// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <string_view>

#include "interpose/ground/base/command_line.h"
#include "tests/unit/catch.h"

namespace {

// The arguments of a command without spaces in them, as /proc separates them.
std::string line(std::string command) {
  for (char& c : command) {
    if (c == ' ') c = '\0';
  }
  return command;
}

std::string name_of(const std::string& command) {
  return std::string(memtrace::traced_program(line(command)));
}

}  // namespace

TEST_CASE("A Python program is known by its script") {
  CHECK(name_of("python train.py --lr 1") == "train.py");
  CHECK(name_of("/usr/bin/python3.11 -u -X dev runs/train.py data.py") == "train.py");
  CHECK(name_of("python -W ignore train") == "train");
}

TEST_CASE("A Python module is known by its dotted name") {
  CHECK(name_of("python3 -I -m package.train --epochs 3") == "package.train");
}

TEST_CASE("Python without a script is known as Python") {
  CHECK(name_of("/usr/bin/python3 -c print(1)") == "python3");
  CHECK(name_of("python") == "python");
  CHECK(name_of("python -") == "python");
  CHECK(name_of("python -m") == "python");
}

TEST_CASE("Any other program is known by its executable") {
  CHECK(name_of("/opt/bin/server model.py") == "server");
  CHECK(name_of("") == "program");
}

TEST_CASE("The command line of this process is read up to the end of the buffer") {
  char much[4096];
  CHECK(memtrace::traced_program(memtrace::read_command_line(much)) ==
        std::filesystem::read_symlink("/proc/self/exe").filename().string());
  char little[4];
  CHECK(memtrace::read_command_line(little).size() == 4);
}
