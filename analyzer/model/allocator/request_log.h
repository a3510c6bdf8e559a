// SPDX-License-Identifier: Apache-2.0
//
// What a program asked of the caching allocator of one device, apart from how the allocator
// answered: plain values, to be replayed under other options, or rewritten to what a changed
// program would ask for. A request takes 8 bytes, its event 2, its answer 8 where that is kept, and
// an allocation 12 more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/model/allocator/event_list.h"
#include "analyzer/model/allocator/request_list.h"
#include "analyzer/model/allocator/settings.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::allocator {

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

  request_list requests;
  event_list events;  // by request: number of the trace's event that told of it
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
