// SPDX-License-Identifier: Apache-2.0
//
// Segments and blocks of the caching allocator at one moment: a map of the heap.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace memtrace::allocator {

enum class block_state : std::uint8_t {
  allocated,
  pending,   // freed, a stream may still use it
  cached,    // free, backed by memory
  unmapped,  // of an expandable segment: address space without memory
};

struct layout_block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;  // allocated and pending only
  block_state state = block_state::cached;
  std::uint32_t number = 0;  // block_number; allocated and pending only
};

struct layout_segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;   // of expandable ones: the address space
  std::uint64_t mapped = 0;  // of it reserved; equal to bytes in others
  std::uint16_t stream = 0;  // index in request_log::streams
  std::uint16_t pool = 0;    // index in request_log::pools
  bool small = false;        // serves rounded requests up to 1 MiB
  bool expandable = false;
  std::vector<layout_block> blocks;  // ascending address, without gaps
};

struct layout {
  std::vector<layout_segment> segments;  // ascending address
  std::uint64_t reserved = 0;
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
};

}  // namespace memtrace::allocator
