// SPDX-License-Identifier: Apache-2.0
//
// Shared by run and dry-run: where libmemtrace.so is, the environment that records with it, and
// the report of what was recorded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/launch/child_process.h"

namespace CLI {
class App;
}

namespace memtrace::cli {

struct recording_options {
  std::string output;            // directory for the traces, made if it is not there; empty: here
  bool record = true;            // false: only run
  bool report = true;            // at the end, on stderr
  bool fixed_addresses = false;  // see run_programs
  bool announce = false;         // say first what will be recorded, and what not
  std::string mode;              // MEMTRACE; empty: as it is set
  variables environment;         // more variables to set
  std::vector<variables> ranks;  // to start it once for each, with these besides; empty: once
  std::vector<std::string> preload;  // libraries to load after libmemtrace.so
};

// The folder of this executable.
[[nodiscard]] std::string executable_folder();

// libmemtrace.so: next to the executable in a build and in a wheel, in ../lib when installed. Says
// so where it is not there.
[[nodiscard]] std::optional<std::string> find_library();

// The folder for the traces as an absolute path. Nothing is made.
[[nodiscard]] std::string output_folder(const std::string& wanted);

// --output and --mode.
void add_recording_options(CLI::App& app, recording_options& to);

// How a program is started so that it is recorded.
struct recorded_start {
  variables environment;  // all that is set, LD_PRELOAD too
  std::string folder;     // of its traces, made; empty: it is not recorded
};
// Nothing, after one sentence on stderr, where it cannot be recorded at all.
[[nodiscard]] std::optional<recorded_start> prepare_recording(const program& command,
                                                              const recording_options& options);

// Runs the program and reports. Nothing, after one sentence on stderr, where it cannot be recorded.
[[nodiscard]] std::optional<child_end> record_and_report(const program& command,
                                                         const recording_options& options);

}  // namespace memtrace::cli
