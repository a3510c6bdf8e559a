// SPDX-License-Identifier: Apache-2.0
//
// How the caching allocator rounds sizes. Source: round_size, get_allocation_size and
// roundup_power2_divisions of PyTorch's CUDACachingAllocator and AllocatorConfig.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "analyzer/model/allocator/settings.h"

namespace memtrace::allocator {

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

[[nodiscard]] constexpr std::uint64_t floor_log2(std::uint64_t value) {
  return 63u - static_cast<unsigned>(std::countl_zero(value | 1));
}

// Divisions that hold between two powers of two: the list begins at 1 MiB.
[[nodiscard]] constexpr std::uint64_t divisions_at(const settings& now, std::uint64_t bytes) {
  constexpr std::uint64_t first = 20;  // log2 of 1 MiB
  const auto power = floor_log2(bytes);
  const auto interval = power > first ? power - first : 0;
  return now.roundup_power2_divisions[std::min<std::uint64_t>(
      interval, now.roundup_power2_divisions.size() - 1)];
}

// The bytes of a block that a request takes.
[[nodiscard]] constexpr std::uint64_t round_size(const settings& now, std::uint64_t requested) {
  if (requested < min_block_size) return min_block_size;
  const auto divisions = divisions_at(now, requested);
  const bool by_powers = divisions > 1 && requested / min_block_size >= divisions &&
                         requested > min_block_size * divisions;
  if (!by_powers) return round_up(requested, min_block_size);
  if (std::has_single_bit(requested)) return requested;
  const auto floor = std::bit_floor(requested);
  const auto division = floor >> floor_log2(divisions);
  if (division == 0) return floor << 1;
  return round_up(requested, division);
}

// The size of the segment that cudaMalloc is asked for, for a block of so many rounded bytes.
[[nodiscard]] constexpr std::uint64_t segment_bytes(const settings& now, std::uint64_t rounded) {
  if (rounded <= small_size) return small_buffer;
  // PyTorch takes no large_segment_size below that.
  if (rounded < min_large_alloc) return std::max(now.large_segment_size, min_large_alloc);
  return round_up(rounded, round_large);
}

}  // namespace memtrace::allocator
