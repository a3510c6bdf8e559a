// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace memtrace::replay {

// Bytes that PyTorch's caching allocator asks CUDA for when no cached block serves a request of so
// many bytes (already rounded), and the figure in its out-of-memory message. Source:
// CUDACachingAllocator's get_allocation_size with the default large_segment_size.
[[nodiscard]] constexpr std::uint64_t segment_size(std::uint64_t request) {
  constexpr std::uint64_t mebibyte = 1 << 20;
  constexpr std::uint64_t small_request = 1 * mebibyte;
  constexpr std::uint64_t small_segment = 2 * mebibyte;
  constexpr std::uint64_t large_request = 10 * mebibyte;
  constexpr std::uint64_t large_segment = 20 * mebibyte;
  constexpr std::uint64_t granularity = 2 * mebibyte;
  if (request <= small_request) return small_segment;
  if (request < large_request) return large_segment;
  return (request + granularity - 1) / granularity * granularity;
}

}  // namespace memtrace::replay
