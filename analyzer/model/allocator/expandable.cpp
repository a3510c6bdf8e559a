// SPDX-License-Identifier: Apache-2.0
//
// Expandable segments: one piece of address space a pool and stream, mapped granule by granule.
//
//   │ allocated │ cached │ allocated │ cached │ unmapped … │
//
// A request that no cached block serves takes the lowest run of cached and unmapped blocks that is
// long enough, and maps what is unmapped of it.
#include <algorithm>

#include "analyzer/model/allocator/model.h"
#include "analyzer/model/allocator/rounding.h"

namespace memtrace::allocator {

namespace {

// Address space of a device whose size is not known.
constexpr std::uint64_t unknown_total = std::uint64_t{1} << 42;

}  // namespace

block_index model::expand(const wanted& want) {
  auto at = find_address_space(want);
  if (at == no_block) return no_block;
  if (blocks_[at].state == block_state::unmapped &&
      !map(at, std::min(blocks_[at].size, want.size))) {
    return no_block;
  }
  while (blocks_[at].size < want.size) {
    const auto next = blocks_[at].next;
    if (next == no_block || blocks_[next].state != block_state::unmapped) return no_block;
    // The ranges that are mapped before one of them fails stay cached.
    if (!map(next, std::min(want.size - blocks_[at].size, blocks_[next].size))) return no_block;
    at = next;
  }
  take(at);
  return at;
}

// The first of a run of free blocks that is long enough, the lowest in which something is unmapped.
block_index model::find_address_space(const wanted& want) {
  for (const auto& [address, index] : blocks_of(want.pool, want.stream).unmapped) {
    const auto before = blocks_[index].previous;
    const auto first = before != no_block && blocks_[before].is_free() ? before : index;
    std::uint64_t bytes = 0;
    for (auto at = first; at != no_block && blocks_[at].is_free() && bytes < want.size;
         at = blocks_[at].next) {
      bytes += blocks_[at].size;
    }
    if (bytes >= want.size) return first;
  }
  return new_expandable(want);
}

block_index model::new_expandable(const wanted& want) {
  const auto total = total_bytes_ == 0 ? unknown_total : total_bytes_;
  expandable_segment made;
  made.granule =
      is_small(want.pool) ? small_buffer : std::max(options_.large_segment_size, mebibyte);
  // Room for the whole device and an eighth more.
  made.bytes = round_up(total + total / 8, made.granule);
  ++calls_.reservations;
  const auto address = driver_.reserve(made.bytes);
  if (!address) {
    ++calls_.failed;
    return no_block;
  }
  made.address = *address;
  if (unused_expandables_.empty()) {
    unused_expandables_.push_back(static_cast<std::uint32_t>(expandables_.size()));
    expandables_.emplace_back();
  }
  const auto segment = unused_expandables_.back();
  unused_expandables_.pop_back();
  expandables_[segment] = made;
  const auto index = blocks_.create();
  auto& space = blocks_[index];
  space.address = made.address;
  space.size = made.bytes;
  space.stream = want.stream;
  space.pool = want.pool;
  space.home = &blocks_of(want.pool, want.stream);
  space.expandable = segment;
  space.state = block_state::unmapped;
  space.home->unmapped.insert({space.address, index});
  return index;
}

// Maps the beginning of an unmapped block, in whole granules, and makes it a cached one.
bool model::map(block_index index, std::uint64_t bytes) {
  const auto& segment = expandables_[blocks_[index].expandable];
  const auto mapped = std::min(round_up(bytes, segment.granule), blocks_[index].size);
  calls_.maps += mapped / segment.granule;
  if (!driver_.map(blocks_[index].address, mapped, segment.granule)) {
    ++calls_.failed;
    return false;
  }
  auto& unmapped = blocks_[index].home->unmapped;
  unmapped.erase({blocks_[index].address, index});
  blocks_[index].state = block_state::cached;
  if (mapped < blocks_[index].size) {
    const auto rest = blocks_.create();
    const auto& whole = blocks_[index];
    blocks_[rest] = whole;
    blocks_[rest].state = block_state::unmapped;
    blocks_[rest].address += mapped;
    blocks_[rest].size -= mapped;
    blocks_.link(rest, index, whole.next);
    blocks_[index].size = mapped;
    unmapped.insert({blocks_[rest].address, rest});
  }
  reserve(mapped);
  merge(index, blocks_[index].previous);
  merge(index, blocks_[index].next);
  put(index);
  return true;
}

// Unmaps the granules that lie wholly in a cached block; what is left of it stays cached.
void model::unmap(block_index index) {
  const auto segment = expandables_[blocks_[index].expandable];
  const auto whole = blocks_[index];
  const auto begin = segment.address + round_up(whole.address - segment.address, segment.granule);
  const auto end = segment.address + (whole.address + whole.size - segment.address) /
                                         segment.granule * segment.granule;
  if (begin >= end) return;
  take(index);
  calls_.unmaps += (end - begin) / segment.granule;
  driver_.unmap(begin, end - begin);
  const auto keep = [&](std::uint64_t address, std::uint64_t bytes, bool before) {
    if (bytes == 0) return;
    const auto part = blocks_.create();
    auto& kept = blocks_[part];
    kept = whole;
    kept.address = address;
    kept.size = bytes;
    if (before) {
      blocks_.link(part, blocks_[index].previous, index);
    } else {
      blocks_.link(part, index, blocks_[index].next);
    }
    put(part);
  };
  keep(whole.address, begin - whole.address, true);
  keep(end, whole.address + whole.size - end, false);
  auto& gone = blocks_[index];
  gone.address = begin;
  gone.size = end - begin;
  gone.state = block_state::unmapped;
  reserved_ -= gone.size;
  merge(index, gone.previous);
  merge(index, gone.next);
  gone.home->unmapped.insert({gone.address, index});
}

// A segment of which nothing is mapped any more.
void model::release_expandable(block_index index) {
  const auto& one = blocks_[index];
  one.home->unmapped.erase({one.address, index});
  driver_.unreserve(one.address, one.size);
  unused_expandables_.push_back(one.expandable);
  blocks_.destroy(index);
}

}  // namespace memtrace::allocator
