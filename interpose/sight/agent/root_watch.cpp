// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/root_watch.h"

#include <algorithm>
#include <new>

#include "interpose/ground/base/read_clock.h"

namespace memtrace::agent {

namespace {

// A program that makes modules without end is not followed for ever.
constexpr std::size_t most_roots = 1 << 16;
constexpr std::uint32_t most_misses = 16;
// Looks for moved parameters take at most this share of the time: 1 in …
constexpr std::uint64_t rest_factor = 200;

}  // namespace

bool root_watch::is_due(const known_root& root) const noexcept {
  if (root.times >= root.next_look) return true;
  return root.moves != moves_ && read_clock(CLOCK_MONOTONIC) >= root.rest_until_ns;
}

bool root_watch::see(std::uint64_t root, std::uint32_t generation) noexcept {
  const lock_holder holder(lock_);
  if (generation != generation_ || roots_.size() >= most_roots) {
    roots_.clear();
    wanted_.clear();
    generation_ = generation;
  }
  try {
    known_root& known = roots_[root];
    ++known.times;
    if (known.is_wanted) return true;
    if (!is_due(known)) return false;
    wanted_.push_back(root);
    known.is_wanted = true;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::vector<root_watch::wanted_root> root_watch::wanted() noexcept {
  const lock_holder holder(lock_);
  try {
    std::vector<wanted_root> wanted;
    for (const std::uint64_t root : wanted_) wanted.push_back({root, roots_[root].misses});
    return wanted;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

bool root_watch::is_idle() noexcept {
  const lock_holder holder(lock_);
  return wanted_.empty();
}

void root_watch::looked(std::uint64_t root, bool found, std::uint64_t nanoseconds) noexcept {
  const lock_holder holder(lock_);
  wanted_.erase(std::remove(wanted_.begin(), wanted_.end(), root), wanted_.end());
  const auto place = roots_.find(root);
  if (place == roots_.end()) return;
  known_root& known = place->second;
  known.is_wanted = false;
  if (!found) {
    if (known.misses < most_misses) ++known.misses;
    known.next_look = known.times + (1u << known.misses);
    return;
  }
  known.misses = 0;
  while (known.next_look <= known.times) known.next_look *= 2;
  known.moves = moves_;
  known.rest_until_ns = read_clock(CLOCK_MONOTONIC) + nanoseconds * rest_factor;
}

void root_watch::forget(std::uint64_t root) noexcept {
  const lock_holder holder(lock_);
  roots_.erase(root);
  wanted_.erase(std::remove(wanted_.begin(), wanted_.end(), root), wanted_.end());
}

void root_watch::parameters_moved() noexcept {
  const lock_holder holder(lock_);
  ++moves_;
}

void root_watch::restart() noexcept {
  new (this) root_watch;
}

root_watch& the_root_watch = *new root_watch;

}  // namespace memtrace::agent
