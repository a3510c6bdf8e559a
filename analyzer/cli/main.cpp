// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "analyzer/cli/command.h"

namespace {

struct subcommand {
  const char* name;
  const char* help;
  memtrace::cli::action (*add)(CLI::App&);
};

constexpr std::array subcommands = {
    subcommand{"report", "Say what a trace shows: peak, who holds it, out of memory",
               memtrace::cli::add_report},
    subcommand{"dump", "Print every record of a trace as JSON, one a line",
               memtrace::cli::add_dump},
};

int run(int argc, char** argv) {
  CLI::App app("Finds out where GPU memory goes in PyTorch training.", "memtrace");
  app.set_version_flag("--version", MEMTRACE_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  std::vector<memtrace::cli::action> actions;
  for (const auto& entry : subcommands) {
    actions.push_back(entry.add(*app.add_subcommand(entry.name, entry.help)));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? memtrace::cli::success : memtrace::cli::usage;
  }
  for (std::size_t i = 0; i < subcommands.size(); ++i) {
    if (app.got_subcommand(subcommands[i].name)) return actions[i]();
  }
  return memtrace::cli::usage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "memtrace: %s\n", error.what());
    return memtrace::cli::failure;
  }
}
