// SPDX-License-Identifier: Apache-2.0
//
// The free blocks of one pool (small or large) and stream.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "analyzer/model/allocator/free_list.h"

namespace memtrace::allocator {

struct stream_blocks {
  free_list cached;
  std::set<std::pair<std::uint64_t, block_index>> unmapped;  // by address
};

}  // namespace memtrace::allocator
