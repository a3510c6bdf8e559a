// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as if memtrace were not there: it inherits standard input, output and error, gets
// the signals that memtrace gets, and its end becomes memtrace's own.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace memtrace::cli {

using variables = std::vector<std::pair<std::string, std::string>>;

struct child_end {
  bool started = false;
  int start_error = 0;  // errno of exec, where it did not start
  int exit_status = 0;
  int signal = 0;  // that killed it; 0: it exited
};

// Waits for the program to end. `environment` is added to the inherited one. From the keyboard,
// signals reach the program directly; others are forwarded. With `fixed_addresses` its libraries,
// heap and stack lie at the same addresses in every run.
[[nodiscard]] child_end run_program(const std::vector<std::string>& command,
                                    const variables& environment, bool fixed_addresses);

// A program that nobody waits for yet, in a process group of its own that dies with memtrace: its
// standard input is empty, and what it writes goes into a file.
struct background_program {
  int pid = 0;          // 0: it did not start
  int start_error = 0;  // errno
};
[[nodiscard]] background_program start_in_background(const std::vector<std::string>& command,
                                                     const variables& environment,
                                                     bool fixed_addresses,
                                                     const std::string& output);

// Ends memtrace in the same way: returns the exit status, or dies by the same signal. Where the
// program did not start, one sentence on stderr, and 127 or 126 as a shell returns.
[[nodiscard]] int end_like(const child_end& end, const std::string& name);

}  // namespace memtrace::cli
