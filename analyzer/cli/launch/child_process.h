// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as if memtrace were not there: it inherits standard input, output and error, gets
// the signals that memtrace gets, and its end becomes memtrace's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace memtrace::cli {

// Exit codes of the command itself; run and dry-run pass the program's own on.
enum exit_code : int {
  success = 0,
  failure = 1,  // bad input, or damage found in a trace
  usage = 2,
  different = 3,   // audit: the two witnesses do not agree
  no_witness = 4,  // audit: there was only one, or nothing that both can see
  not_executable = 126,
  not_found = 127,
};

// The program and its arguments, as they stood after "--"; empty where there was none.
using program = std::vector<std::string>;

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
//
// `each`: it runs once for each of these, with them besides, at most most_at_once side by side; empty:
// once. Where one fails the others are asked to end, and killed half a minute later; its end is the
// answer. Several die with memtrace.
inline constexpr std::size_t most_at_once = 64;
[[nodiscard]] child_end run_programs(const std::vector<std::string>& command,
                                     const variables& environment, std::vector<variables> each,
                                     bool fixed_addresses);

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

// A program in the background with all that it has started: asked whether it still runs, and ended
// with them.
class watched_program {
 public:
  explicit watched_program(const background_program& started) : pid_(started.pid) {}
  watched_program(const watched_program&) = delete;
  watched_program& operator=(const watched_program&) = delete;
  ~watched_program() { end({}); }

  // Its end, once it has ended by itself.
  [[nodiscard]] std::optional<child_end> look();
  // Asks its first process to end, and waits for that no longer than so.
  void ask_to_end(std::chrono::seconds patience);
  // Kills it, what is left of its process group, and every process that was told to write its
  // traces to `folder`: launchers put their workers into groups of their own.
  void end(const std::string& folder);

 private:
  int pid_;
  bool ended_ = false;
};

}  // namespace memtrace::cli
