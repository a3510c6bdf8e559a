// SPDX-License-Identifier: Apache-2.0
//
// The contents of a snapshot: the segments and blocks that are there at its end, where the events
// of each device stand in the log, the allocator's settings, and the program's marks. Sizes are
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/snapshot/event_log.h"
#include "analyzer/model/snapshot/names.h"

namespace memtrace::snapshot {

enum class block_state : std::uint8_t { inactive, allocated, pending };

struct block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;  // 0: not said, in versions before 2.1
  std::uint32_t stack = 0;
  block_state state = block_state::inactive;
};

struct segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint64_t pool_first = 0;
  std::uint64_t pool_second = 0;
  std::uint32_t device = 0;
  std::uint32_t stack = 0;
  std::uint32_t first_block = 0;
  std::uint32_t blocks = 0;
  bool expandable = false;
};

// The beginning or end of a named range, as torch.profiler's record_function makes them.
struct mark {
  std::uint64_t time_us = 0;
  std::uint32_t device = 0;
  std::uint32_t name = 0;  // text
  bool begins = false;
};

struct range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct contents {
  names known;
  std::vector<segment> segments;
  std::vector<block> blocks;
  std::vector<range> traces;  // by device: in the log
  std::vector<mark> marks;
  std::string settings;  // as PYTORCH_CUDA_ALLOC_CONF would have them
  bool has_times = false;
  bool has_requested = false;        // of the blocks
  std::uint64_t unknown_events = 0;  // whose action means nothing here
  event_log events;
};

}  // namespace memtrace::snapshot
