// SPDX-License-Identifier: Apache-2.0
//
// The steps of a run as they pass: where each ended, so that the step of a block's birth can be
// told when it dies. Eight bytes a step, and one time.
//
// Where several optimizers take turns, a step ends with the first of each round: always the same
// one, so that what is live is comparable. One that was never seen before, after some rounds
// without it, begins a round: mostly it is another one's successor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "analyzer/judge/verdicts/rounds.h"
#include "analyzer/trace/reader/ids.h"

namespace memtrace::verdicts {

class step_clock {
 public:
  // Of an optimizer that has stepped: whether a step ends with it.
  [[nodiscard]] bool begins_round(trace::object_id optimizer);
  void end_step(std::uint64_t event, std::uint64_t time_ns);

  [[nodiscard]] std::uint64_t now() const { return ends_.size(); }  // from 0; = steps that ended
  // Whether a block that was made at this event was alive when a step ended.
  [[nodiscard]] bool crossed(std::uint64_t born) const {
    return !ends_.empty() && born < ends_.back();
  }
  [[nodiscard]] std::uint64_t step_of(std::uint64_t event) const {
    if (!crossed(event)) return now();
    return static_cast<std::uint64_t>(std::ranges::upper_bound(ends_, event) - ends_.begin());
  }
  // Mean over the steps but the first; 0: not known.
  [[nodiscard]] double ns_per_step() const;

 private:
  std::vector<std::uint64_t> ends_;  // events, ascending
  std::uint64_t first_end_ns_ = 0;
  std::uint64_t last_end_ns_ = 0;
  rounds optimizers_;
  std::set<trace::object_id> known_;
};

}  // namespace memtrace::verdicts
