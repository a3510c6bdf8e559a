// SPDX-License-Identifier: Apache-2.0
//
// One thing that a program asks of the caching allocator.
#pragma once

#include <cstdint>

namespace memtrace::allocator {

// Allocations are numbered from 0 in their order, the refused ones included.
using block_number = std::uint32_t;

enum class action : std::uint8_t {
  allocate,  // block; size: requested bytes
  // block: the program gives it back. size: 1 where other streams may still use it (record_stream):
  // unusable until `complete`; 0: usable at once
  free,
  // block: streams that held its free up are done. size: 1 where in the recorded run the allocator
  // itself had to wait for them (a retry, or empty_cache): they were done later by themselves
  complete,
  empty_cache,  // pool (0: everything)
  // pool: a MemPool was made; until its pool_release it keeps its memory. size: 1 where it has an
  // allocator of its own
  pool_create,
  // pool: allocations of the thread go there. size: 1 where it was made before, as by pool_create,
  // but that was not recorded
  pool_begin,
  pool_end,         // pool
  pool_release,     // pool
  pool_no_split,    // pool: its blocks are not split
  pool_use_on_oom,  // pool; size: 1 where its cached blocks serve the default pool, before retries
  memory_fraction,  // size: bits of the double
  settings,         // size: index in texts
};

struct request {
  std::uint64_t size = 0;
  block_number block = 0;
  std::uint16_t stream = 0;     // of allocate: index in request_log::streams
  std::uint16_t pool : 12 = 0;  // index in request_log::pools; 0 is the default pool
  std::uint16_t what_bits : 4 = 0;
  [[nodiscard]] action what() const { return static_cast<action>(what_bits); }
  void set_what(action now) { what_bits = static_cast<std::uint16_t>(now) & 15u; }
  [[nodiscard]] bool operator==(const request&) const = default;
};
static_assert(sizeof(request) == 16);

}  // namespace memtrace::allocator
