// SPDX-License-Identifier: Apache-2.0
//
// The roles that the recording has already: blocks of which a role was recorded since they were
// allocated. For roles that are told again and again, of parameters at every backward pass, of
// workspaces at every product of matrices.
//
// A table of addresses with a few places for each; one that finds none pushes another out, which is
// then recorded once more. Any thread, without a lock. The recorder removes what is freed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "memtrace/trace_format.h"

namespace memtrace {

class told_storages {
 public:
  // After the record was taken; an address that is not aligned is told every time.
  void add(std::uint64_t address, format::storage_role role) noexcept {
    if (address == 0 || address % alignment != 0) return;
    const std::uint64_t added = address | static_cast<std::uint64_t>(role);
    bucket& at = buckets_[place_of(address)];
    for (auto& place : at) {
      const std::uint64_t there = place.load(std::memory_order_relaxed);
      if (there == added) return;
      if (there == 0) return place.store(added, std::memory_order_relaxed);
    }
    at[(address >> 9) % at.size()].store(added, std::memory_order_relaxed);
  }

  // For every free.
  void remove(std::uint64_t address) noexcept {
    for (auto& place : buckets_[place_of(address)]) {
      if ((place.load(std::memory_order_relaxed) ^ address) < alignment) [[unlikely]]
        place.store(0, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] bool contains(std::uint64_t address, format::storage_role role) const noexcept {
    const std::uint64_t wanted = address | static_cast<std::uint64_t>(role);
    for (const auto& place : buckets_[place_of(address)]) {
      if (place.load(std::memory_order_relaxed) == wanted) return address % alignment == 0;
    }
    return false;
  }

  // Another recording knows none of them.
  void clear() noexcept {
    for (bucket& at : buckets_) {
      for (auto& place : at) {
        if (place.load(std::memory_order_relaxed) != 0) place.store(0, std::memory_order_relaxed);
      }
    }
  }

 private:
  static constexpr unsigned bits = 15;
  static constexpr std::uint64_t alignment = 32;  // the role is in the bits below
  using bucket = std::array<std::atomic<std::uint64_t>, 4>;
  [[nodiscard]] static std::size_t place_of(std::uint64_t address) noexcept {
    return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15u) >> (64 - bits));
  }

  alignas(64) std::array<bucket, std::size_t{1} << bits> buckets_{};
};

inline constinit told_storages the_told_storages;

}  // namespace memtrace
