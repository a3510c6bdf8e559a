// SPDX-License-Identifier: Apache-2.0
//
// The steps of a run and how high memory went in each, phase by phase.
//
// Where several optimizers take turns, a step is one round of them:
//
//   D G D G D G        D D D G D D D G
//   └─┘ └─┘ └─┘        │ │ └─┘ │ │ └─┘     a round ends before an optimizer that was in it already
//
// One that was never seen before, after some rounds without it, begins a round: mostly it is
// another one's successor.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analyzer/model/attribution/result.h"
#include "analyzer/trace/reader/ids.h"

namespace memtrace::attribution {

// Where a step ends.
struct step_end {
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t allocated = 0;
};

class step_series {
 public:
  // After an allocation: the device's total.
  void observe(std::uint64_t event, phase during, std::uint64_t total);
  void boundary(const step_end& end);
  void optimizer_step(const step_end& end, trace::object_id optimizer);
  [[nodiscard]] steps_found finish(step_boundary what);
  [[nodiscard]] bool empty() const { return count_ == 0 && round_.empty(); }
  // While the trace goes on: what finish would say of the steps that have ended, without the list.
  [[nodiscard]] std::uint64_t count() const { return count_ + (round_.empty() ? 0 : 1); }
  [[nodiscard]] const step_peaks& latest() const { return round_.empty() ? closed_ : round_peaks_; }
  [[nodiscard]] std::span<const step_peaks> before_latest() const {
    const std::span all(steps_);
    return round_.empty() && !all.empty() ? all.first(all.size() - 1) : all;
  }

 private:
  void close(const step_peaks& step);
  void end_now(const step_end& end);

  step_peaks now_;  // since the latest boundary or optimizer's step
  step_peaks round_peaks_;
  std::vector<trace::object_id> round_;  // optimizers that have stepped in the open round
  std::set<trace::object_id> known_;     // optimizers that have ever stepped
  std::vector<step_peaks> steps_;
  step_peaks closed_;  // the latest of them, also where there are too many to be kept
  std::uint64_t count_ = 0;
};

// The step in which an event happened; none after the last one's end.
[[nodiscard]] std::optional<std::uint64_t> step_of(const steps_found& steps, std::uint64_t event);

}  // namespace memtrace::attribution
