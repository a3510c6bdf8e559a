// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/published_memory.h"

#include <algorithm>
#include <new>

namespace memtrace::agent {

published_memory& the_published_memory = *new published_memory;

void published_memory::add(std::uint64_t address) noexcept {
  const lock_holder holder(lock_);
  try {
    if (!addresses_.insert(address).second) return;
  } catch (const std::bad_alloc&) {
    return;
  }
  const std::size_t bit = bit_of(address);
  filter_[bit / 64].fetch_or(1ull << (bit % 64), std::memory_order_relaxed);
}

bool published_memory::remove(std::uint64_t address) noexcept {
  const lock_holder holder(lock_);
  if (addresses_.erase(address) == 0) return false;
  removals_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool published_memory::has(std::span<const std::uint64_t> addresses) noexcept {
  const lock_holder holder(lock_);
  return std::all_of(addresses.begin(), addresses.end(),
                     [&](std::uint64_t address) { return addresses_.contains(address); });
}

void published_memory::restart() noexcept {
  new (this) published_memory;
}

}  // namespace memtrace::agent
