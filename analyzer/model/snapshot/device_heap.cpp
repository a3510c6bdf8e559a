// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/device_heap.h"

#include <algorithm>
#include <iterator>

#include "analyzer/model/allocator/rounding.h"

namespace memtrace::snapshot {

void device_heap::add_segment(std::uint64_t address, std::uint64_t bytes, bool expandable) {
  reserved_ += bytes;
  if (expandable) {
    mapped_.add(address, address + bytes);
  } else {
    segments_[address] = bytes;
  }
}

void device_heap::remove_segment(std::uint64_t address, std::uint64_t bytes, bool expandable) {
  reserved_ -= std::min(reserved_, bytes);
  if (expandable) {
    mapped_.remove(address, address + bytes);
  } else {
    segments_.erase(address);
  }
}

// As PyTorch's should_split has it.
std::uint64_t device_heap::size_of_block(std::uint64_t address, std::uint64_t requested) const {
  const auto rounded = allocator::round_size(settings_, requested);
  auto end = mapped_.end_of(address);
  const bool expandable = end != address;
  if (!expandable) {
    const auto behind = segments_.upper_bound(address);
    if (behind == segments_.begin()) return rounded;
    const auto& [begin, bytes] = *std::prev(behind);
    end = begin + bytes;
  }
  if (const auto next = blocks_.upper_bound(address); next != blocks_.end()) {
    end = std::min(end, next->first);
  }
  if (end < address + rounded) return rounded;  // the events do not tell all
  const auto rest = end - address - rounded;
  const bool fine = expandable || settings_.expandable_segments || rounded <= allocator::small_size;
  const bool splits = fine ? rest >= allocator::min_block_size
                           : rounded < settings_.max_split_size && rest > allocator::small_size;
  return splits ? rounded : end - address;
}

std::uint64_t device_heap::allocate(std::uint64_t address, std::uint64_t requested,
                                    std::uint64_t bytes) {
  if (bytes == 0) bytes = size_of_block(address, requested);
  auto& block = blocks_[address];
  if (block.bytes != 0 && !block.pending) allocated_ -= block.bytes;
  block = {bytes, false};
  allocated_ += bytes;
  return bytes;
}

std::uint64_t device_heap::request_free(std::uint64_t address) {
  const auto block = blocks_.find(address);
  if (block == blocks_.end() || block->second.pending) return 0;
  block->second.pending = true;
  allocated_ -= block->second.bytes;
  return block->second.bytes;
}

void device_heap::complete_free(std::uint64_t address) {
  (void)request_free(address);
  blocks_.erase(address);
}

std::optional<std::uint64_t> device_heap::segment_of(std::uint64_t address) const {
  const auto behind = segments_.upper_bound(address);
  if (behind == segments_.begin()) return std::nullopt;
  const auto& [begin, bytes] = *std::prev(behind);
  return address < begin + bytes ? std::optional(begin) : std::nullopt;
}

std::optional<device_heap::held> device_heap::block_at(std::uint64_t address) const {
  const auto block = blocks_.find(address);
  return block == blocks_.end() ? std::nullopt : std::optional(block->second);
}

}  // namespace memtrace::snapshot
