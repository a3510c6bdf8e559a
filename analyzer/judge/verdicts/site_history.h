// SPDX-License-Identifier: Apache-2.0
//
// The history of each call site of a device: the least bytes that it held in every step, and in how
// many steps its live blocks were made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/base/statistics/series.h"
#include "analyzer/model/attribution/block_life.h"

namespace memtrace::verdicts {

// In how many different steps the live blocks of a call site were made. A leak's number grows; that
// of a ring buffer, a cache that is full, or memory that streams does not (SWAT and GenCount, which
// count generations of objects, rest on the same).

class generations {
 public:
  void born(std::uint64_t step) {  // not before the latest one
    if (step != step_) {
      distances_.add(step - step_);
      if (alive_ != 0) {
        older_.push_back({step_, alive_});
        ++older_alive_;
      }
      step_ = step;
      alive_ = 0;
    }
    ++alive_;
  }
  void died(std::uint64_t step);
  [[nodiscard]] std::uint64_t count() const { return older_alive_ + (alive_ != 0 ? 1 : 0); }
  // Whether there were births in every third step or so (to within a quarter of the distance), and
  // the next one is not overdue `now`.
  [[nodiscard]] bool at_even_distances(std::uint64_t now) const {
    return distances_.are_even() && now - step_ <= distances_.most + distances_.most / 4;
  }
  // Whether there have been none for more than twice the longest wait between any two.
  [[nodiscard]] bool is_overdue(std::uint64_t now) const {
    return distances_.count >= 4 && now - step_ > 2 * distances_.most;
  }

 private:
  // From a step with births to the next; what is made before the second such step is the start.
  struct distances {
    std::uint64_t count = 0, least = 0, most = 0;
    void add(std::uint64_t one) {
      if (++count <= 2) return;
      least = count == 3 ? one : std::min(least, one);
      most = std::max(most, one);
    }
    [[nodiscard]] bool are_even() const { return count >= 4 && most <= least + least / 4; }
  };
  struct generation {
    std::uint64_t step = 0;
    std::uint64_t alive = 0;  // blocks
  };
  std::uint64_t step_ = 0;  // the latest with a birth
  distances distances_;
  std::uint64_t alive_ = 0;
  std::uint64_t older_alive_ = 0;  // of older_, those with live blocks
  std::vector<generation> older_;  // ascending
};

// The series of one call site among thousands: written only where it changes. Few changes are kept
// as they are; more go into a growth::series of few windows.

class sparse_series {
 public:
  // All steps, until told otherwise, have this value.
  explicit sparse_series(std::uint64_t value = 0) : changes_{{0, value}} {}

  // Step `step` (not before the latest one set) had `value`; the steps after it have `later`.
  void set(std::uint64_t step, std::uint64_t value, std::uint64_t later);

  [[nodiscard]] std::uint64_t latest() const { return changes_.back().value; }
  // The first `steps` steps, at least as many as were set.
  [[nodiscard]] growth::series first(std::uint64_t steps) const;

 private:
  struct change {
    std::uint64_t step = 0;  // the first with this value
    std::uint64_t value = 0;
  };
  void push(std::uint64_t step, std::uint64_t value);
  void fold();

  std::vector<change> changes_;           // never empty
  std::optional<growth::series> folded_;  // the steps before the first of them
};

// The history of one call site over the steps of a run, or over the calls of an episode.

// The memory that a call site holds.
struct site_holding {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// Blocks of one category from one call site.
struct kind_of_block {
  attribution::category what = attribution::category::unknown;
  double byte_steps = 0;  // bytes, times the step ends at which they were alive
  // Only blocks made after the first steps, from the second step's end that each was there for:
  // memory that is reallocated each step and goes with it, such as gradients, is not what grows.
  double late_byte_steps = 0;
  double streamed_byte_steps = 0;  // of blocks made after the first steps, all of it
  // The latest one; where some outlived more than one step's end, the latest of these.
  std::uint64_t born_event = 0;
  bool stayed = false;
  trace::stack_id stack;
  trace::stack_id forward;
  attribution::phase born_in = attribution::phase::other;
  bool captured = false;  // for a CUDA graph
};

struct site_history {
  std::uint32_t site = 0;
  std::uint64_t stamp = 0;          // the step in which it was touched last, from 1
  std::uint64_t least = 0;          // bytes, in that step
  std::uint64_t touched_steps = 0;  // that have ended
  site_holding now;
  sparse_series series;  // the least bytes of each step
  generations births;
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

// The histories of a device's call sites: of each, the least bytes of every step, and in how many
// steps its live blocks were made. Sites that only stream, and sites that do not change, cost
// nothing at a step's end.

class site_book {
 public:
  // Before a change of what the site holds: its history. `before`: what it holds.
  [[nodiscard]] site_history& touch(std::uint32_t site, const site_holding& before) {
    auto& page = page_of(site, before);
    if (page.stamp != steps_ + 1) {
      page.stamp = steps_ + 1;
      page.least = before.bytes;
      touched_.push_back(site);
    }
    return page;
  }
  void end_step();

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // The sites that have changed, in the order in which they first did.
  [[nodiscard]] const std::vector<site_history>& pages() const { return pages_; }
  // Null: it has not changed.
  [[nodiscard]] site_history* find(std::uint32_t site) {
    return site < places_.size() && places_[site] != none ? &pages_[places_[site]] : nullptr;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] site_history& page_of(std::uint32_t site, const site_holding& before);

  std::uint64_t steps_ = 0;
  std::vector<std::uint32_t> places_;  // by site: in pages_
  std::vector<site_history> pages_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace memtrace::verdicts
