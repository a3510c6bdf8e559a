// SPDX-License-Identifier: Apache-2.0
//
// What is remembered of one call site over the steps of a run, or over the calls of an episode.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/verdicts/birth_steps.h"
#include "analyzer/judge/verdicts/sparse_series.h"
#include "analyzer/model/attribution/block_life.h"

namespace memtrace::verdicts {

// What a call site holds.
struct site_holding {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// Blocks of one category from one call site.
struct kind_of_block {
  attribution::category what = attribution::category::unknown;
  double byte_steps = 0;  // bytes, times the step ends at which they were alive
  // Of blocks made after the first steps, and after the first end that each was there for: what
  // comes anew in each step and goes with it, such as gradients, is not what grows.
  double late_byte_steps = 0;
  double streamed_byte_steps = 0;  // of blocks made after the first steps, all of it
  // Of the latest one, where some outlived more than one step's end: of these.
  std::uint64_t born_event = 0;
  bool stayed = false;
  trace::stack_id stack;
  trace::stack_id forward;
  attribution::phase born_in = attribution::phase::other;
};

struct site_history {
  std::uint32_t site = 0;
  std::uint64_t stamp = 0;  // the step in which it was touched last, from 1
  std::uint64_t least = 0;  // bytes, in that step
  site_holding now;
  sparse_series series;  // the least bytes of each step
  birth_steps births;
  // When the latest step ended in which it was touched:
  site_holding stayed;
  std::uint64_t births_stayed = 0;
  std::vector<std::uint32_t> births_at;  // births_at[i] when 2^i steps had ended
  std::vector<site_holding> held_at;     // the same of what it held
  std::vector<kind_of_block> kinds;      // of the blocks that were alive when a step ended

  // So many steps have ended, one of them just now.
  void end_step(std::uint64_t steps);
  // In how many steps its blocks had been made when half of `steps`, or somewhat less, had ended.
  [[nodiscard]] std::uint64_t births_by_half_of(std::uint64_t steps) const;
  // Since a quarter of `steps`, or somewhat less, it has grown by more blocks, not by larger ones.
  [[nodiscard]] bool grew_by_blocks(std::uint64_t steps) const;
  // It was alive at the ends of the steps `born` to `ended` - 1.
  void outlived(const attribution::block_life& block, attribution::category what,
                std::uint64_t born, std::uint64_t ended);
  // The kind that most of what grows is of: of blocks made after the first steps, if there are any.
  [[nodiscard]] kind_of_block main_kind() const;
};

}  // namespace memtrace::verdicts
