// SPDX-License-Identifier: Apache-2.0
//
// The free blocks of a device at one moment: what segments have and blocks do not. Worked out
// from nothing each time, so only for moments that matter (out of memory).
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/replay/segment_table.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::replay {

struct memory_range {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct largest_free {
  std::uint64_t overall = 0;  // bytes, whatever stream and pool
  // What a request could use: PyTorch looks only at free blocks of the request's stream, of its
  // pool (default or private), and of its size class (segments of 2 MiB serve up to 1 MiB).
  std::uint64_t usable = 0;
};

// `in_use` in any order, those waiting for a stream included; `request` is the rounded size.
[[nodiscard]] largest_free find_largest_free(const segment_table::map& segments,
                                             std::vector<memory_range> in_use,
                                             const trace::allocator_event& request);

}  // namespace memtrace::replay
