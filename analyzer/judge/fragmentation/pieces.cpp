// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/pieces.h"

#include <algorithm>
#include <map>

namespace memtrace::fragmentation {

namespace {

using allocator::block_state;
using allocator::layout_block;
using allocator::layout_segment;

[[nodiscard]] bool is_in_use(const layout_block& block) {
  return block.state == block_state::allocated || block.state == block_state::pending;
}

[[nodiscard]] bool is_for_replays(const layout_segment& segment, const layout_block& block,
                                  const replayed_pools& replayed) {
  return block.state == block_state::cached && segment.pool < replayed.size() &&
         replayed[segment.pool];
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

// For the segments that the request could have used.
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

using allocator::block_state;
using allocator::layout_block;

constexpr std::size_t most_sites = 64;
constexpr std::uint32_t part_of_the_run = 16;

struct tally {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t block_bytes = 0;
  attribution::category what = attribution::category::unknown;
};

[[nodiscard]] std::vector<std::uint64_t> pinned_by_segment(const std::vector<piece>& pieces,
                                                           std::size_t segments) {
  std::vector<std::uint64_t> bytes(segments);
  for (const auto& one : pieces) {
    if (one.why == reason::survivors) bytes[one.segment] += one.bytes;
  }
  return bytes;
}

[[nodiscard]] std::vector<const layout_block*> long_lived_of(
    const allocator::layout_segment& segment, const long_lives& long_lived) {
  std::vector<const layout_block*> found;
  for (const auto& block : segment.blocks) {
    if (block.state == block_state::allocated && long_lived(block.number)) found.push_back(&block);
  }
  return found;
}

}  // namespace

std::uint64_t graph_pools_of(const allocator::layout& heap, const replayed_pools& replayed) {
  std::uint64_t bytes = 0;
  for (const auto& segment : heap.segments) {
    for (const auto& block : segment.blocks) {
      if (is_for_replays(segment, block, replayed)) bytes += block.bytes;
    }
  }
  return bytes;
}

std::vector<piece> pieces_of(const allocator::layout& heap, const viewpoint& from,
                             const is_long_lived& long_lived, const replayed_pools& replayed) {
  std::vector<piece> found;
  for (std::size_t s = 0; s < heap.segments.size(); ++s) {
    const auto& segment = heap.segments[s];
    const auto facts = facts_of(segment, long_lived);
    for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
      const auto& block = segment.blocks[i];
      if (block.state == block_state::allocated || block.state == block_state::unmapped) continue;
      if (is_for_replays(segment, block, replayed)) continue;
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

bool long_lives::operator()(allocator::block_number block) const {
  if (block >= log_.allocations.size()) return false;
  const auto born = log_.allocations[block];
  const auto freed = lives_.freed[block];
  if (step_ends_.empty()) {
    const auto until = std::min<std::uint64_t>(freed, log_.requests.size());
    return until - std::min<std::uint64_t>(born, until) >= log_.requests.size() / part_of_the_run;
  }
  const auto end = std::ranges::upper_bound(step_ends_, born);
  return end == step_ends_.end() ? freed == never : *end <= freed;
}

std::vector<pinning_site> pinning_sites(const std::vector<piece>& pieces,
                                        const allocator::layout& heap, const long_lives& long_lived,
                                        const blocks::evidence& of) {
  std::map<trace::stack_id, tally> by_stack;
  const auto pinned = pinned_by_segment(pieces, heap.segments.size());
  for (std::size_t s = 0; s < pinned.size(); ++s) {
    if (pinned[s] == 0) continue;
    const auto blocks = long_lived_of(heap.segments[s], long_lived);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto number = blocks[i]->number;
      const auto facts = number < of.blocks.size() ? of.blocks[number] : blocks::block_facts{};
      auto& site = by_stack[facts.stack ? facts.stack : facts.forward];
      // The remainder of the division goes to the first.
      site.bytes += pinned[s] / blocks.size() + (i == 0 ? pinned[s] % blocks.size() : 0);
      ++site.blocks;
      site.block_bytes += blocks[i]->bytes;
      site.what = facts.what;
    }
  }
  std::vector<pinning_site> sites;
  for (const auto& [stack, found] : by_stack) {
    sites.push_back({code::frames_of(of.names, stack), found.what, found.bytes, found.blocks,
                     found.block_bytes});
  }
  std::ranges::stable_sort(sites, std::greater(), &pinning_site::bytes);
  if (sites.size() > most_sites) sites.resize(most_sites);
  return sites;
}

}  // namespace memtrace::fragmentation
