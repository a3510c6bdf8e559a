// SPDX-License-Identifier: Apache-2.0
//
// What a program asked of the caching allocator of one device, apart from how the allocator
// answered: plain values, to be replayed under other options, or rewritten to what a changed
// program would ask for. 16 bytes a request, 8 for its event and 8 for what was answered.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/allocator/settings.h"
#include "analyzer/trace/records.h"

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
};
static_assert(sizeof(request) == 16);

// What the recorded allocator did, to compare with: see exactness.h.
struct recorded_answers;

struct request_log {
  std::uint32_t device = 0;
  std::string torch_version;
  std::string settings_text;  // at the first request
  settings options;           // the same, parsed
  // Of the device: the base of the memory fraction and of address spaces. 0: not recorded.
  std::uint64_t total_bytes = 0;
  // What the driver would give the allocator: total less what is outside of it. 0: not recorded.
  std::uint64_t usable_bytes = 0;

  std::vector<request> requests;
  std::vector<std::uint64_t> events;  // by request: number of the trace's event that told of it
  std::vector<std::uint64_t> streams;
  std::vector<trace::pool_id> pools;          // the first is the default pool
  std::vector<std::string> texts;             // of settings
  std::vector<std::uint32_t> allocations;     // by block: its request
  std::vector<std::uint64_t> addresses;       // by block, as recorded; 0: refused
  std::vector<std::uint64_t> refused_events;  // events of recorded out-of-memory errors
  // Why a replay of it cannot be exact (events dropped, recording began late, another allocator, a
  // version without a tracker): one sentence each; empty where it can.
  std::vector<std::string> doubts;

  // Empty after a rewriting: what was answered to other requests tells nothing.
  std::shared_ptr<const recorded_answers> answers;

  [[nodiscard]] std::size_t blocks() const { return allocations.size(); }
};

}  // namespace memtrace::allocator
