// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/device_lives.h"

#include <algorithm>
#include <bit>

namespace memtrace::verdicts {

namespace {

constexpr std::uint64_t first_steps = 3;  // in which what stays anyway is made

}  // namespace

std::uint64_t site_lives::births_by_half_of(std::uint64_t steps) const {
  if (steps < 2) return 0;
  const auto index = static_cast<std::size_t>(std::bit_width(steps / 2)) - 1;
  if (births_at.empty()) return births_stayed;
  return index < births_at.size() ? births_at[index] : births_stayed;
}

void site_lives::outlived(const attribution::block_life& block, attribution::category what,
                          std::uint64_t born, std::uint64_t ended) {
  auto kind = std::ranges::find(kinds, what, &kind_of_block::what);
  if (kind == kinds.end()) {
    kind = kinds.insert(kinds.end(), kind_of_block());
    kind->what = what;
  }
  const auto ends = ended - born;
  const auto weight = static_cast<double>(block.bytes) * static_cast<double>(ends);
  kind->byte_steps += weight;
  if (born >= first_steps) kind->late_byte_steps += weight;
  const bool stays = ends > 1;
  if (kind->stayed && !stays) return;
  if (stays == kind->stayed && block.born_event < kind->born_event) return;
  kind->stayed = stays;
  kind->born_event = block.born_event;
  kind->stack = block.stack;
  kind->forward = block.scope.forward;
  kind->born_in = block.born.during;
}

kind_of_block site_lives::main_kind() const {
  kind_of_block best;
  for (const auto& kind : kinds) {
    const auto more = kind.late_byte_steps - best.late_byte_steps;
    if (more > 0 || (more == 0 && kind.byte_steps > best.byte_steps)) best = kind;
  }
  return best;
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
