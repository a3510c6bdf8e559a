// SPDX-License-Identifier: Apache-2.0
//
// The blocks of the model: each a part of a segment, linked to its neighbours there. They are named
// by their index, which is used again after they are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/allocator/layout.h"

namespace memtrace::allocator {

using block_index = std::uint32_t;
inline constexpr block_index no_block = 0;  // the slab's first is never used

inline constexpr std::uint32_t not_expandable = 0xffffffffu;

struct stream_blocks;

// A cache line.
struct alignas(64) block {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;    // allocated, pending: before rounding
  std::uint64_t inserted_at = 0;  // garbage collection: the pool's count of searches then
  stream_blocks* home = nullptr;  // where it is while it is free
  block_index previous = no_block;
  block_index next = no_block;
  std::uint32_t number = 0;                   // allocated, pending: its block_number
  std::uint32_t expandable = not_expandable;  // index of its expandable segment
  std::uint16_t stream = 0;                   // by rank of the handle
  std::uint16_t pool = 0;                     // twice the pool, plus 1 for large blocks
  block_state state = block_state::cached;
  bool live = false;

  [[nodiscard]] bool is_expandable() const { return expandable != not_expandable; }
  [[nodiscard]] bool is_split() const { return previous != no_block || next != no_block; }
  [[nodiscard]] bool is_free() const {
    return state == block_state::cached || state == block_state::unmapped;
  }
};

static_assert(sizeof(block) == 64);

class block_slab {
 public:
  block_slab() : blocks_(1) {}

  // References to blocks do not survive this.
  [[nodiscard]] block_index create() {
    if (unused_.empty()) {
      blocks_.emplace_back().live = true;
      return static_cast<block_index>(blocks_.size() - 1);
    }
    const auto index = unused_.back();
    unused_.pop_back();
    blocks_[index] = block{};
    blocks_[index].live = true;
    return index;
  }
  void destroy(block_index index) {
    blocks_[index].live = false;
    unused_.push_back(index);
  }

  [[nodiscard]] block& operator[](block_index index) { return blocks_[index]; }
  [[nodiscard]] const block& operator[](block_index index) const { return blocks_[index]; }
  [[nodiscard]] std::size_t size() const { return blocks_.size(); }

  // Between `before` and `after`; each may be none.
  void link(block_index index, block_index before, block_index after) {
    blocks_[index].previous = before;
    blocks_[index].next = after;
    if (before != no_block) blocks_[before].next = index;
    if (after != no_block) blocks_[after].previous = index;
  }

 private:
  std::vector<block> blocks_;
  std::vector<block_index> unused_;
};

}  // namespace memtrace::allocator
