// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/device_lives.h"

#include <bit>

namespace memtrace::verdicts {

std::uint64_t site_lives::births_by_half_of(std::uint64_t steps) const {
  if (steps < 2) return 0;
  const auto index = static_cast<std::size_t>(std::bit_width(steps / 2)) - 1;
  if (births_at.empty()) return births_stayed;
  return index < births_at.size() ? births_at[index] : births_stayed;
}

attribution::category site_lives::category() const {
  std::size_t best = attribution::category_count - 1;
  for (std::size_t i = 0; i < attribution::category_count; ++i) {
    if (byte_steps.values[i] > byte_steps.values[best]) best = i;
  }
  return static_cast<attribution::category>(best);
}

// What had been so far is entered for the powers of two that have passed since.
void device_lives::note_births(std::uint32_t site, std::uint64_t steps) {
  auto& lives = at(site);
  while (lives.births_at.size() < 64 && std::uint64_t{1} << lives.births_at.size() < steps) {
    lives.births_at.push_back(static_cast<std::uint32_t>(lives.births_stayed));
  }
  lives.births_stayed = lives.births.count();
  lives.blocks_stayed = lives.blocks;
}

void device_lives::end_step(std::uint64_t step, const totals_now& now) {
  observe(now.allocated);
  book_.close([&](std::uint32_t site) { note_births(site, step + 1); });
  auto& all = whole_;
  const auto missed = step - all.steps;  // before the device was first used
  const auto add = [&](growth::series& to, thinned_series& shown, std::uint64_t bytes) {
    to.add(0, missed);
    to.add(bytes, 1);
    shown.add(0, missed);
    shown.add(bytes, 1);
  };
  add(all.least, all.least_shown, least_);
  add(all.reserved, all.reserved_shown, now.reserved);
  add(all.cached, all.cached_shown, now.reserved - std::min(now.reserved, now.allocated));
  add(all.outside, all.outside_shown, now.outside);
  all.steps = step + 1;
  all.last_least = least_;
  if (step != 0) all.most_above_least = std::max(all.most_above_least, most_ - least_);
  least_ = most_ = now.allocated;
}

void device_lives::restart(std::uint64_t allocated) {
  book_.clear();
  whole_ = whole();
  for (auto& lives : sites_) {
    site_lives fresh;
    fresh.live = lives.live;
    fresh.blocks = lives.blocks;
    lives = fresh;
  }
  least_ = most_ = allocated;
}

}  // namespace memtrace::verdicts
