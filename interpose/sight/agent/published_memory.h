// SPDX-License-Identifier: Apache-2.0
//
// Where parameters, buffers and optimizer states were last said to be, so that the free of one of
// them is noticed: then the program has moved or replaced it.
//
// may_contain() is for every free: one load of a bloom filter. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <unordered_set>

#include "interpose/ground/base/small_lock.h"

namespace memtrace::agent {

class published_memory {
 public:
  [[nodiscard]] bool may_contain(std::uint64_t address) const noexcept {
    const std::size_t bit = bit_of(address);
    return (filter_[bit / 64].load(std::memory_order_relaxed) & (1ull << (bit % 64))) != 0;
  }
  void add(std::uint64_t address) noexcept;
  // True when it was there.
  bool remove(std::uint64_t address) noexcept;
  // Whether all of them are there.
  [[nodiscard]] bool has(std::span<const std::uint64_t> addresses) noexcept;
  // In a forked child, where the parent's threads may have been in the middle of it.
  void restart() noexcept;

  // Changes with every remove() that found something.
  [[nodiscard]] std::uint64_t removals() const noexcept {
    return removals_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned filter_bits_log2 = 16;
  [[nodiscard]] static std::size_t bit_of(std::uint64_t address) noexcept {
    return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15u) >> (64 - filter_bits_log2));
  }

  std::array<std::atomic<std::uint64_t>, (1u << filter_bits_log2) / 64> filter_{};
  std::atomic<std::uint64_t> removals_{0};
  small_lock lock_;
  std::unordered_set<std::uint64_t> addresses_;
};

// Never destroyed: other threads may free until the process is gone.
extern published_memory& the_published_memory;

}  // namespace memtrace::agent
