// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/history/timeline.h"

#include <algorithm>
#include <utility>

namespace memtrace::history {

void timeline::grew(const moment& now) {
  const auto stretch = now.event / width_;
  if (has_open_ && stretch != open_stretch_) close();
  if (!has_open_) {
    has_open_ = true;
    open_stretch_ = now.event / width_;  // closing may have widened them
    open_ = now;
    open_.most_reserved = now.reserved;
    return;
  }
  const auto most_reserved = std::max(open_.most_reserved, now.reserved);
  if (now.allocated > open_.allocated) open_ = now;
  open_.most_reserved = most_reserved;
}

std::size_t timeline::first_from(std::uint64_t event) const {
  const auto found = std::ranges::lower_bound(moments_, event, {}, &moment::event);
  return static_cast<std::size_t>(found - moments_.begin());
}

void timeline::lived(const life& block) {
  if (block.born >= block.died) return;
  count(block, first_from(block.born),
        block.died == never ? moments_.size() : first_from(block.died));
  // Later blocks of the stretch may make its highest moment another one, in which this one lives.
  const bool ended_before = block.died != never && block.died / width_ < open_stretch_;
  if (has_open_ && !ended_before) inconclusive_.push_back(block);
}

void timeline::count(const life& block, std::size_t first, std::size_t last) {
  if (first >= last) return;
  const auto from = moments_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto to = moments_.begin() + static_cast<std::ptrdiff_t>(last);
  const auto later = std::partition_point(
      from, to, [&](const moment& one) { return one.backwards_ended <= block.until_backward; });
  const auto split = static_cast<std::size_t>(later - moments_.begin());
  change(block.kind, first, split, block.bytes);
  change(block.later_kind, split, last, block.bytes);
}

void timeline::change(std::uint32_t kind, std::size_t first, std::size_t last,
                      std::uint64_t bytes) {
  if (first >= last) return;
  if (kind >= changes_.size()) changes_.resize(kind + 1);
  auto& of_kind = changes_[kind];
  if (of_kind.size() <= last) of_kind.resize(last + 1);
  of_kind[first] += bytes;
  of_kind[last] -= bytes;
}

void timeline::close() {
  has_open_ = false;
  moments_.push_back(open_);
  for (const auto& block : std::exchange(inconclusive_, {})) {
    if (block.born > open_.event || block.died <= open_.event) continue;
    count(block, moments_.size() - 1, moments_.size());
  }
  while (moments_.size() >= most_moments_) halve();
}

void timeline::halve() {
  width_ *= 2;
  std::vector<std::size_t> kept;  // of the moments
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    const bool same =
        !kept.empty() && moments_[kept.back()].event / width_ == moments_[i].event / width_;
    if (!same) {
      kept.push_back(i);
      continue;
    }
    auto& before = moments_[kept.back()];
    const auto most_reserved = std::max(before.most_reserved, moments_[i].most_reserved);
    if (moments_[i].allocated > before.allocated) kept.back() = i;
    moments_[kept.back()].most_reserved = most_reserved;
  }
  for (auto& of_kind : changes_) {
    std::vector<std::uint64_t> made;
    std::uint64_t here = 0, before = 0;
    std::size_t next = 0;
    for (const auto i : kept) {
      for (; next <= i && next < of_kind.size(); ++next) here += of_kind[next];
      made.push_back(here - std::exchange(before, here));
    }
    made.push_back(std::uint64_t{0} - before);
    of_kind = std::move(made);
  }
  std::vector<moment> moments;
  for (const auto i : kept) moments.push_back(moments_[i]);
  moments_ = std::move(moments);
}

void timeline::finish() {
  if (has_open_) close();
}

std::vector<std::uint64_t> timeline::bytes_of(std::uint32_t kind) const {
  std::vector<std::uint64_t> made(moments_.size());
  if (kind >= changes_.size()) return made;
  const auto& of_kind = changes_[kind];
  std::uint64_t here = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (i < of_kind.size()) here += of_kind[i];
    made[i] = here;
  }
  return made;
}

}  // namespace memtrace::history
