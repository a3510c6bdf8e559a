// SPDX-License-Identifier: Apache-2.0
//
// The report of the trace so far, made beside the training (idle_work.h): for all that needs the
// whole trace from its start each time (advice that replays prove, what keeps memory alive, steps
// that the program does not mark).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/run/model/load.h"
#include "analyzer/run/model/model.h"
#include "analyzer/show/live/idle_work.h"
#include "analyzer/trace/reader/error.h"

namespace memtrace::live {

struct report_so_far {
  run::process_report report;
  std::chrono::steady_clock::time_point as_of;
};

// At once, in this thread; the file is only read.
[[nodiscard]] trace::result<report_so_far> report_now(const std::string& path,
                                                      const run::load_options& wanted = {});

class background {
 public:
  explicit background(run::load_options wanted) : wanted_(std::move(wanted)) {}

  // Starts on this trace, if it is time for that. `last`: nothing comes after this, so do it even
  // if it is not.
  void want(const std::string& path, std::uint64_t events, bool last);
  // The latest one of that trace; null: none yet.
  [[nodiscard]] std::shared_ptr<const report_so_far> latest(const std::string& path);
  [[nodiscard]] bool is_busy() const { return work_.is_busy(); }

 private:
  struct state {
    std::mutex lock;
    std::map<std::string, std::shared_ptr<const report_so_far>> found;
  };
  run::load_options wanted_;
  // The work's, too: it may outlive this object by a report.
  std::shared_ptr<state> shared_ = std::make_shared<state>();
  idle_work work_;
  std::map<std::string, std::uint64_t> asked_;  // events at that time
};

}  // namespace memtrace::live
