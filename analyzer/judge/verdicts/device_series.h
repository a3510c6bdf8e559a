// SPDX-License-Identifier: Apache-2.0
//
// How much memory a device and each category hold, one value a step.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/base/statistics/series.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/attribution/terms.h"

namespace memtrace::verdicts {

// A series thinned for people to look at: at most 64 values, one every so many steps.

class thinned_series {
 public:
  void add(std::uint64_t bytes, std::uint64_t times);
  [[nodiscard]] const series_shown& shown() const { return shown_; }

 private:
  static constexpr std::size_t most = 64;
  series_shown shown_;
  std::uint64_t steps_ = 0;
};

// How much memory a device holds on the whole, one value a step.

// The memory that the allocator holds on the whole.
struct totals_now {
  std::uint64_t allocated = 0;
  std::uint64_t in_use = 0;  // allocated, or freed and waiting for a stream
  std::uint64_t reserved = 0;
  std::uint64_t occupied = 0;  // segments with a block in them: empty_cache would not return them
  std::uint64_t outside = 0;   // got from CUDA by this process, but not as PyTorch's segments
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

  // Between two events. `in_use`: allocated, or freed and waiting for a stream.
  void observe(std::uint64_t allocated, std::uint64_t in_use) {
    if (allocated < least_) least_ = allocated;
    if (allocated > most_) most_ = allocated;
    if (in_use > most_in_use_) most_in_use_ = in_use;
  }
  void end_step(std::uint64_t step, const totals_now& now);  // its number, from 0

  judged_series least;  // allocated: the least of each step
  judged_series peak;   // allocated: the most of each step
  judged_series reserved;
  // Reserved beyond the most that was ever in use at once, since segments were last given back:
  // what the program does not need at its peaks either, and what nothing has fitted into. Free
  // memory alone also grows where peaks do, and where the host runs ahead of a stream that still
  // uses blocks which were freed.
  judged_series stranded;
  judged_series outside;
  // Segments with a block in them: grows faster than what is allocated where each block that stays
  // leaves free parts beside it that nothing fits into.
  judged_series occupied;
  std::uint64_t last_occupied = 0;
  std::uint64_t last_least = 0;
  std::uint64_t most_above_least = 0;  // in one step, but for the first

 private:
  std::uint64_t steps_ = 0;
  std::uint64_t least_;
  std::uint64_t most_;
  std::uint64_t most_in_use_ = 0;
  std::uint64_t latest_reserved_ = 0;
};

// Bytes by category at the end of each step, all devices together. A block's category is known
// when it dies: it is entered then, for all steps that it had outlived, as a difference:
//
//   block born in step b, dead in step d:   + at b … d - 1    difference[b] += bytes
//                                                             difference[d] -= bytes

class category_series {
 public:
  void lived(attribution::category what, std::uint64_t bytes, std::uint64_t born,
             std::uint64_t died);
  // One value a step, for so many steps.
  [[nodiscard]] std::vector<std::uint64_t> of(attribution::category what,
                                              std::uint64_t steps) const;

 private:
  attribution::by_category<std::vector<std::int64_t>> differences_;
};

}  // namespace memtrace::verdicts
