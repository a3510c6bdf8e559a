// SPDX-License-Identifier: Apache-2.0
//
// The memory of a device when its history began: PyTorch keeps the last so many events
// (max_entries), and recording may have begun late or never.
//
//   there at the beginning =   what is there at the end and was not allocated in the history
//                            + what was freed in the history and not allocated in it
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/model/snapshot/contents.h"

namespace memtrace::snapshot {

struct held_block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: not known, its free says only what was requested
  std::uint64_t requested = 0;
  std::uint64_t stream = 0;
  std::uint64_t pool_first = 0;
  std::uint64_t pool_second = 0;
  std::uint32_t stack = 0;
  bool pending = false;  // freed already, and a stream may still use it
};

struct held_segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint64_t pool_first = 0;
  std::uint64_t pool_second = 0;
  std::uint32_t stack = 0;
  bool expandable = false;  // a mapped range
};

struct start_of_history {
  std::vector<held_segment> segments;  // by address
  std::vector<held_block> blocks;      // by address
  // How often a segment at that address is given back in the history: as long as it will be, it is
  // not the one that is there at the end.
  std::unordered_map<std::uint64_t, std::uint32_t> returns;
  // Events that do not fit the segments at the end: 0, unless the two are of different moments.
  std::uint64_t contradictions = 0;
  bool failed = false;  // the log could not be read

  [[nodiscard]] std::uint64_t allocated() const;  // bytes, as far as known
};

[[nodiscard]] start_of_history find_start(contents& of, std::uint32_t device);

}  // namespace memtrace::snapshot
