// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/heap_layout.h"

#include <algorithm>

namespace memtrace::replay {

namespace {

// kSmallSize and kSmallBuffer of PyTorch's CUDACachingAllocator.
constexpr std::uint64_t small_request = 1u << 20;
constexpr std::uint64_t small_segment = 2u << 20;

struct region {  // a segment, or expandable ranges that follow one another
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  segment kind;
  bool small = false;
};

[[nodiscard]] std::vector<region> regions_of(const segment_table::map& segments) {
  std::vector<region> regions;
  for (const auto& [address, part] : segments) {
    if (!regions.empty()) {
      auto& last = regions.back();
      if (part.expandable && last.kind.expandable && last.address + last.bytes == address &&
          last.kind.stream == part.stream && last.kind.pool == part.pool) {
        last.bytes += part.bytes;
        continue;
      }
    }
    regions.push_back({address, part.bytes, part, part.bytes <= small_segment});
  }
  return regions;
}

}  // namespace

largest_free find_largest_free(const segment_table::map& segments, std::vector<memory_range> in_use,
                               const trace::allocator_event& request) {
  std::ranges::sort(in_use, {}, &memory_range::address);
  largest_free found;
  auto block = in_use.begin();
  for (const auto& region : regions_of(segments)) {
    const bool usable = region.kind.stream == request.stream && region.kind.pool == request.pool &&
                        region.small == (request.size <= small_request);
    auto position = region.address;
    const auto end = region.address + region.bytes;
    const auto gap = [&](std::uint64_t until) {
      if (until <= position) return;
      found.overall = std::max(found.overall, until - position);
      if (usable) found.usable = std::max(found.usable, until - position);
    };
    while (block != in_use.end() && block->address < region.address) ++block;
    for (; block != in_use.end() && block->address < end; ++block) {
      gap(block->address);
      position = std::max(position, block->address + block->bytes);
    }
    gap(end);
  }
  return found;
}

}  // namespace memtrace::replay
