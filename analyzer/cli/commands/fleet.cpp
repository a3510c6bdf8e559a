// SPDX-License-Identifier: Apache-2.0
//
// Many runs. What there is to it is Python (python/memtrace/fleet): this becomes that.
#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/help/page.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/launch/recording.h"
#include "analyzer/export/tables/python.h"
#include "memtrace/gpu_models.h"

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;

// For what would fit another GPU.
int print_gpus() {
  auto all = nlohmann::json::array();
  for (const auto& known : known_gpus) {
    all.push_back(
        {{"gpu", known.key}, {"name", known.name}, {"capacity_bytes", known.total_bytes}});
  }
  std::printf("%s\n", all.dump().c_str());
  return std::fflush(stdout) == 0 ? success : failure;
}

// A source tree's folder with the package; empty where this is installed, and Python has it.
[[nodiscard]] std::string package_of_sources() {
  std::error_code failed;
  for (fs::path at = executable_folder(); at.has_relative_path(); at = at.parent_path()) {
    const auto folder = at / "python";
    if (fs::exists(folder / "memtrace" / "fleet" / "__main__.py", failed)) return folder.string();
  }
  return {};
}

// Finds the package, or says in one sentence what to do.
constexpr char start[] =
    "import sys\n"
    "if sys.argv[1]: sys.path.insert(0, sys.argv[1])\n"
    "del sys.argv[1]\n"
    "try: from memtrace.fleet.__main__ import main\n"
    "except ModuleNotFoundError as error:\n"
    "  sys.exit('memtrace: fleet needs a Python with gpu-memtrace[fleet], and ' + sys.executable + "
    "' "
    "has '\n"
    "           'none (' + str(error) + '): pip install \"gpu-memtrace[fleet]\", or name its "
    "Python in "
    "'\n"
    "           'MEMTRACE_PYTHON')\n"
    "sys.exit(main(sys.argv[1:]))\n";

int become_python(const std::vector<std::string>& asked) {
  std::vector<std::string> arguments = {tables::interpreter(), "-c", start, package_of_sources()};
  arguments.insert(arguments.end(), asked.begin(), asked.end());
  auto variables = tables::unrecorded_environment();
  std::error_code failed;
  const auto self = fs::read_symlink("/proc/self/exe", failed).string();
  variables.insert(variables.begin(), "MEMTRACE_COMMAND=" + self);
  ::execvpe(arguments.front().c_str(), tables::pointers(arguments).data(),
            tables::pointers(variables).data());
  log::error("fleet needs Python, and {} cannot be run ({}): name one in MEMTRACE_PYTHON",
             arguments.front(), std::strerror(errno));
  return failure;
}

}  // namespace

// Its options are Python's to read, and stand where other commands have their program.
action add_fleet(CLI::App& app) {
  app.set_help_flag();
  const auto command = std::make_shared<std::string>();  // for completions: nothing is read here
  app.add_option("COMMAND", *command, "What to do; memtrace fleet COMMAND --help says more")
      ->check(help::known_values({"add", "report", "compact", "views", "gpus"}));
  return [command](const program& asked) {
    return asked == program{"gpus"} ? print_gpus() : become_python(asked);
  };
}

}  // namespace memtrace::cli
