// SPDX-License-Identifier: Apache-2.0
//
// The traces that the processes of a dry run write into its folder, followed while they grow.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/plan/fit/trial.h"

namespace memtrace::fit {

class trace_watch {
 public:
  explicit trace_watch(std::string folder);
  trace_watch(const trace_watch&) = delete;
  trace_watch& operator=(const trace_watch&) = delete;
  ~trace_watch();

  // Reads what is new.
  void poll();

  [[nodiscard]] std::uint64_t steps() const;  // whole ones, of the process that has made fewest
  // Every process that makes steps has, and nothing has risen for a moment: what comes after the
  // training's first steps may be an evaluation. False where none makes steps.
  [[nodiscard]] bool is_settled() const;
  [[nodiscard]] bool ran_out() const;
  [[nodiscard]] bool went_on_after() const;
  // Steps that ended since memory ran out.
  [[nodiscard]] std::uint64_t steps_after() const;

  // Nobody writes any more. Puts what it saw into the probe. Once.
  void finish(probe& into);

 private:
  struct followed;
  std::string folder_;
  std::map<std::string, std::unique_ptr<followed>> traces_;
  std::uint64_t steps_at_refusal_ = 0;
  bool refused_ = false;
  std::uint64_t rises_ = 0;  // sum over the processes of the latest step in which something rose
  std::chrono::steady_clock::time_point risen_at_ = std::chrono::steady_clock::now();
};

}  // namespace memtrace::fit
