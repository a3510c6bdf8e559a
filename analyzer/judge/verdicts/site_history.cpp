// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/site_history.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace memtrace::verdicts {

void generations::died(std::uint64_t step) {
  if (step == step_) {
    if (alive_ != 0) --alive_;
    return;
  }
  const auto found = std::ranges::lower_bound(older_, step, {}, &generation::step);
  if (found == older_.end() || found->step != step || found->alive == 0) return;
  if (--found->alive != 0) return;
  --older_alive_;
  if (older_.size() > 2 * older_alive_ + 16) {
    std::erase_if(older_, [](const generation& one) { return one.alive == 0; });
  }
}

namespace {

constexpr std::size_t most_changes = 64;
constexpr std::size_t windows = 128;

}  // namespace

void sparse_series::push(std::uint64_t step, std::uint64_t value) {
  if (changes_.back().value == value) return;
  if (changes_.back().step == step) {
    changes_.back().value = value;
  } else {
    changes_.push_back({step, value});
  }
}

void sparse_series::set(std::uint64_t step, std::uint64_t value, std::uint64_t later) {
  push(step, value);
  push(step + 1, later);
  if (changes_.size() > most_changes) fold();
}

void sparse_series::fold() {
  if (!folded_) folded_.emplace(windows);
  for (std::size_t i = 0; i + 1 < changes_.size(); ++i) {
    folded_->add(changes_[i].value, changes_[i + 1].step - changes_[i].step);
  }
  changes_.erase(changes_.begin(), changes_.end() - 1);
  changes_.shrink_to_fit();
}

growth::series sparse_series::first(std::uint64_t steps) const {
  auto all = folded_ ? *folded_ : growth::series(windows);
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const auto until = i + 1 < changes_.size() ? std::min(changes_[i + 1].step, steps) : steps;
    if (until > changes_[i].step) all.add(changes_[i].value, until - changes_[i].step);
  }
  return all;
}

namespace {

constexpr std::uint64_t first_steps = 3;  // in which what stays anyway is made

}  // namespace

// The state so far is entered for the powers of two that have passed since.
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
  kind->captured = block.born.captured;
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

site_history& site_book::page_of(std::uint32_t site, const site_holding& before) {
  if (site >= places_.size()) places_.resize(site + std::size_t{1}, none);
  auto& place = places_[site];
  if (place == none) {
    place = static_cast<std::uint32_t>(pages_.size());
    auto& page = pages_.emplace_back();
    page.site = site;
    page.now = before;
    page.series = sparse_series(before.bytes);
  }
  return pages_[place];
}

void site_book::end_step() {
  for (const auto site : touched_) {
    auto& page = pages_[places_[site]];
    ++page.touched_steps;
    const bool crosses = page.now.bytes != 0 || page.series.latest() != 0;
    if (!crosses) continue;  // it streams
    page.series.set(steps_, page.least, page.now.bytes);
    page.end_step(steps_ + 1);
  }
  touched_.clear();
  ++steps_;
}

}  // namespace memtrace::verdicts
