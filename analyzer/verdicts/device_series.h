// SPDX-License-Identifier: Apache-2.0
//
// How much memory a device holds on the whole, one value a step.
#pragma once

#include <cstdint>

#include "analyzer/growth/series.h"
#include "analyzer/verdicts/series_shown.h"

namespace memtrace::verdicts {

// What the allocator holds on the whole.
struct totals_now {
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
  std::uint64_t outside = 0;  // got from CUDA by this process, but not as PyTorch's segments
};

// A series as it is judged and as it is shown.
struct judged_series {
  growth::series values;
  thinned_series shown;
  void add(std::uint64_t bytes, std::uint64_t times) {
    values.add(bytes, times);
    shown.add(bytes, times);
  }
};

class device_series {
 public:
  explicit device_series(std::uint64_t allocated) : least_(allocated), most_(allocated) {}

  // Between two events.
  void observe(std::uint64_t allocated) {
    if (allocated < least_) least_ = allocated;
    if (allocated > most_) most_ = allocated;
  }
  void end_step(std::uint64_t step, const totals_now& now);  // its number, from 0

  judged_series least;  // allocated: the least of each step
  judged_series peak;   // allocated: the most of each step
  judged_series reserved;
  judged_series cached;  // reserved and not allocated
  judged_series outside;
  std::uint64_t last_least = 0;
  std::uint64_t most_above_least = 0;  // in one step, but for the first

 private:
  std::uint64_t steps_ = 0;
  std::uint64_t least_;
  std::uint64_t most_;
};

}  // namespace memtrace::verdicts
