// SPDX-License-Identifier: Apache-2.0
//
// memtrace live: follows all traces that are meant, shows one process at a time, and reacts to
// keys until it is left or, where nobody can press any, until all programs have ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/show/live/background.h"
#include "analyzer/show/live/followed_run.h"
#include "analyzer/show/live/frame.h"
#include "analyzer/show/live/recordings.h"

namespace memtrace::live {

class session {
 public:
  explicit session(recordings wanted)
      : wanted_(std::move(wanted)), reports_({.suppressions = wanted_.suppressions}) {}

  // Looks for traces, and reads what is new in all of them for at most about so long.
  void poll(std::chrono::milliseconds at_most);
  [[nodiscard]] bool is_empty() const { return runs_.empty(); }
  [[nodiscard]] bool has_more() const { return has_more_; }
  [[nodiscard]] bool is_over() const;
  // Why the latest trace that could not be followed could not; empty: there was none.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

  // The processes in the order in which they are shown: by rank, then by their number.
  [[nodiscard]] std::vector<followed_run*> runs();
  // The content of a frame, by the number of the process from 0.
  [[nodiscard]] shown_run shown(std::size_t number, std::size_t device);
  // All that can be known now about all of them, whatever that costs.
  [[nodiscard]] std::vector<shown_run> known();

  [[nodiscard]] background& reports() { return reports_; }

 private:
  void find();
  recordings wanted_;
  std::map<std::string, std::unique_ptr<followed_run>> runs_;
  std::vector<std::unique_ptr<followed_run>> earlier_;  // whose trace was replaced
  std::chrono::steady_clock::time_point next_find_{};
  background reports_;
  std::string complaint_;
  bool has_more_ = false;
};

// Until it is left; the exit status.
int watch(session& of, std::chrono::milliseconds interval);

// One frame of each process, as plain text unless standard output is a terminal.
void print_once(const std::vector<shown_run>& all);

}  // namespace memtrace::live
