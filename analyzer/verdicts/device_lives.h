// SPDX-License-Identifier: Apache-2.0
//
// One device while its trace is read: what each call site holds, and how much the whole holds, step
// by step.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/attribution/rules.h"
#include "analyzer/growth/series.h"
#include "analyzer/verdicts/birth_steps.h"
#include "analyzer/verdicts/series_shown.h"
#include "analyzer/verdicts/site_book.h"
#include "analyzer/verdicts/verdict.h"

namespace memtrace::verdicts {

// Blocks of one category from one call site.
struct kind_of_block {
  attribution::category what = attribution::category::unknown;
  double byte_steps = 0;       // bytes, times the step ends at which they were alive
  double late_byte_steps = 0;  // of them, of blocks made after the first steps
  // Of the latest one, where some outlived more than one step's end: of these.
  std::uint64_t born_event = 0;
  bool stayed = false;
  trace::stack_id stack;
  trace::stack_id forward;
  attribution::phase born_in = attribution::phase::other;
};

// Of one call site on one device.
struct site_lives {
  std::uint64_t live = 0;    // bytes
  std::uint64_t blocks = 0;  // live
  birth_steps births;
  // When the latest step ended in which that changed:
  std::uint64_t blocks_stayed = 0;
  std::uint64_t births_stayed = 0;
  // The same when so many steps had ended: births_at[i] after 2^i.
  std::vector<std::uint32_t> births_at;
  std::vector<kind_of_block> kinds;  // of the blocks that were alive when a step ended

  // Births when half of `steps`, or somewhat less, had ended.
  [[nodiscard]] std::uint64_t births_by_half_of(std::uint64_t steps) const;
  // The kind that most of what grows is of: of blocks made after the warm-up, if there are any.
  [[nodiscard]] kind_of_block main_kind() const;
  void outlived(const attribution::block_life& block, attribution::category what,
                std::uint64_t born, std::uint64_t ended);
};

// What the allocator holds on the whole.
struct totals_now {
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
  std::uint64_t outside = 0;  // got from CUDA by this process, but not as PyTorch's segments
};

class device_lives {
 public:
  void born(std::uint32_t site, std::uint64_t bytes, std::uint64_t step) {
    auto& lives = at(site);
    change(site, lives, lives.live + bytes);
    ++lives.blocks;
    lives.births.born(step);
  }
  void resized(std::uint32_t site, std::uint64_t difference) {
    auto& lives = at(site);
    change(site, lives, lives.live + difference);
  }
  void died(std::uint32_t site, std::uint64_t bytes, std::uint64_t born_in) {
    auto& lives = at(site);
    change(site, lives, lives.live - bytes);
    --lives.blocks;
    lives.births.died(born_in);
  }
  // Between two events: what the allocator holds.
  void observe(std::uint64_t allocated) {
    if (allocated < least_) least_ = allocated;
    if (allocated > most_) most_ = allocated;
  }
  // A step ends; `step` is its number, from 0.
  void end_step(std::uint64_t step, const totals_now& now);
  void restart(std::uint64_t allocated);

  [[nodiscard]] site_lives& at(std::uint32_t site) {
    if (site >= sites_.size()) sites_.resize(site + std::size_t{1});
    return sites_[site];
  }
  [[nodiscard]] const site_lives& at(std::uint32_t site) const { return sites_[site]; }
  [[nodiscard]] const site_book& book() const { return book_; }

  // One value a step.
  struct whole {
    growth::series least;  // allocated: the least of the step
    growth::series reserved;
    growth::series cached;  // reserved and not allocated
    growth::series outside;
    thinned_series least_shown;
    thinned_series reserved_shown;
    thinned_series cached_shown;
    thinned_series outside_shown;
    std::uint64_t last_least = 0;
    std::uint64_t most_above_least = 0;  // of the steps but the first
    std::uint64_t steps = 0;
  };
  [[nodiscard]] const whole& totals() const { return whole_; }

 private:
  void change(std::uint32_t site, site_lives& lives, std::uint64_t after) {
    book_.change(site, lives.live, after);
    lives.live = after;
  }
  void note_births(std::uint32_t site, std::uint64_t steps);

  std::vector<site_lives> sites_;
  site_book book_;
  whole whole_;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t most_ = 0;
};

}  // namespace memtrace::verdicts
