// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/site_history.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace memtrace::verdicts {

namespace {

constexpr std::uint64_t first_steps = 3;  // in which what stays anyway is made

}  // namespace

// What had been so far is entered for the powers of two that have passed since.
void site_history::end_step(std::uint64_t steps) {
  while (births_at.size() < 64 && std::uint64_t{1} << births_at.size() < steps) {
    births_at.push_back(static_cast<std::uint32_t>(births_stayed));
    held_at.push_back(stayed);
  }
  births_stayed = births.count();
  stayed = now;
}

std::uint64_t site_history::births_by_half_of(std::uint64_t steps) const {
  if (steps < 2) return 0;
  const auto index = static_cast<std::size_t>(std::bit_width(steps / 2)) - 1;
  return index < births_at.size() ? births_at[index] : births_stayed;
}

bool site_history::grew_by_blocks(std::uint64_t steps) const {
  if (steps < 4) return false;
  const auto index = static_cast<std::size_t>(std::bit_width(steps / 4)) - 1;
  if (index >= held_at.size() || held_at[index].blocks == 0) return false;
  const auto& before = held_at[index];
  const auto larger = static_cast<double>(stayed.bytes) / static_cast<double>(before.bytes);
  const auto more = static_cast<double>(stayed.blocks) / static_cast<double>(before.blocks);
  constexpr double same = 1.1;
  return more > same && larger <= more * same;
}

void site_history::outlived(const attribution::block_life& block, attribution::category what,
                            std::uint64_t born, std::uint64_t ended) {
  auto kind = std::ranges::find(kinds, what, &kind_of_block::what);
  if (kind == kinds.end()) {
    kind = kinds.insert(kinds.end(), kind_of_block());
    kind->what = what;
  }
  const auto ends = ended - born;
  const auto bytes = static_cast<double>(block.bytes);
  kind->byte_steps += bytes * static_cast<double>(ends);
  if (born >= first_steps) {
    kind->late_byte_steps += bytes * static_cast<double>(ends - 1);
    kind->streamed_byte_steps += bytes * static_cast<double>(ends);
  }
  const bool stays = ends > 1;
  if (kind->stayed && !stays) return;
  if (stays == kind->stayed && block.born_event < kind->born_event) return;
  kind->stayed = stays;
  kind->born_event = block.born_event;
  kind->stack = block.stack;
  kind->forward = block.scope.forward;
  kind->born_in = block.born.evaluating ? attribution::phase::evaluation : block.born.during;
}

kind_of_block site_history::main_kind() const {
  kind_of_block best;
  const auto order = [](const kind_of_block& kind) {
    return std::tuple(kind.late_byte_steps, kind.streamed_byte_steps, kind.byte_steps);
  };
  for (const auto& kind : kinds) {
    if (order(kind) > order(best)) best = kind;
  }
  return best;
}

}  // namespace memtrace::verdicts
