// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <cstdio>
#include <memory>

#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/launch/recording.h"

namespace memtrace::cli {

action add_run(CLI::App& app) {
  struct chosen_options {
    recording_options recording;
    bool no_report = false;
  };
  const auto chosen = std::make_shared<chosen_options>();
  add_recording_options(app, chosen->recording);
  app.add_flag("--no-report", chosen->no_report, "Only record");
  return [chosen](const program& command) {
    if (command.empty()) {
      log::error("put the program after --: memtrace run -- python train.py");
      return static_cast<int>(usage);
    }
    chosen->recording.report = !chosen->no_report;
    chosen->recording.announce = true;
    const auto end = record_and_report(command, chosen->recording);
    return end ? end_like(*end, command.front()) : static_cast<int>(failure);
  };
}

action add_path(CLI::App&) {
  return [](const program&) {
    const auto library = find_library();
    if (!library) return static_cast<int>(failure);
    std::puts(library->c_str());
    return static_cast<int>(success);
  };
}

}  // namespace memtrace::cli
