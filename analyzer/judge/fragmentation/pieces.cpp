// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/pieces.h"

#include <algorithm>

namespace memtrace::fragmentation {

namespace {

using allocator::block_state;
using allocator::layout_block;
using allocator::layout_segment;

[[nodiscard]] bool is_in_use(const layout_block& block) {
  return block.state == block_state::allocated || block.state == block_state::pending;
}

struct segment_facts {
  std::uint64_t used = 0;       // bytes, pending ones included
  bool has_long_lived = false;  // an allocated block is
  std::size_t last_used = 0;    // one past the last block in use; 0: none
};

[[nodiscard]] segment_facts facts_of(const layout_segment& segment,
                                     const is_long_lived& long_lived) {
  segment_facts found;
  for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
    const auto& block = segment.blocks[i];
    if (!is_in_use(block)) continue;
    found.used += block.bytes;
    found.last_used = i + 1;
    if (!found.has_long_lived && block.state == block_state::allocated) {
      found.has_long_lived = long_lived(block.number);
    }
  }
  return found;
}

// Of the segments that the request could have used.
[[nodiscard]] reason own_reason(const layout_segment& segment, const segment_facts& facts,
                                std::size_t block) {
  if (segment.expandable) {
    return block >= facts.last_used ? reason::expandable_tails : reason::split;
  }
  if (facts.used == 0) return reason::empty_segments;
  const bool pinned = facts.has_long_lived && facts.used <= segment.bytes / pinned_share;
  return pinned ? reason::survivors : reason::split;
}

[[nodiscard]] reason reason_of(const layout_segment& segment, const viewpoint& from,
                               const segment_facts& facts, std::size_t block) {
  if (segment.blocks[block].state == block_state::pending) return reason::pending;
  if (segment.pool != from.pool) return reason::other_pools;
  if (segment.stream != from.stream) return reason::other_streams;
  // Where only small segments were got, they are what there is to explain.
  if (segment.small && !from.small) return reason::small_pool;
  return own_reason(segment, facts, block);
}

}  // namespace

std::vector<piece> pieces_of(const allocator::layout& heap, const viewpoint& from,
                             const is_long_lived& long_lived) {
  std::vector<piece> found;
  for (std::size_t s = 0; s < heap.segments.size(); ++s) {
    const auto& segment = heap.segments[s];
    const auto facts = facts_of(segment, long_lived);
    for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
      const auto& block = segment.blocks[i];
      if (block.state == block_state::allocated || block.state == block_state::unmapped) continue;
      found.push_back({block.address, block.bytes, reason_of(segment, from, facts, i),
                       static_cast<std::uint32_t>(s), 0});
    }
  }
  return found;
}

bytes_by_reason sum_of(const std::vector<piece>& pieces) {
  bytes_by_reason sum;
  for (const auto& one : pieces) sum[one.why] += one.bytes;
  return sum;
}

bytes_by_reason used_again_of(const std::vector<piece>& pieces) {
  bytes_by_reason sum;
  for (const auto& one : pieces) sum[one.why] += one.used_again;
  return sum;
}

free_for free_memory_for(const allocator::layout& heap, const viewpoint& from) {
  free_for found;
  for (const auto& segment : heap.segments) {
    if (segment.pool != from.pool || segment.stream != from.stream || segment.small != from.small) {
      continue;
    }
    for (const auto& block : segment.blocks) {
      if (block.state != block_state::cached) continue;
      found.total += block.bytes;
      found.largest = std::max(found.largest, block.bytes);
    }
  }
  return found;
}

}  // namespace memtrace::fragmentation
