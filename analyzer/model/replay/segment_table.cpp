// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/segment_table.h"

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

unused_reason segment_table::reason(const segment& of) {
  if (of.pool.is_private()) return unused_reason::private_pools;
  if (of.expandable) return unused_reason::expandable;
  return of.used == 0 ? unused_reason::empty_segments : unused_reason::split_segments;
}

pool_bytes* segment_table::pool_of(const segment& of) {
  return of.pool.is_private() ? &pools_[{of.pool.first, of.pool.second}] : nullptr;
}

std::uint64_t& segment_table::sum_of(const segment& of) {
  const auto* const pool = pool_of(of);
  return pool != nullptr && pool->replayed ? graph_pools_
                                           : unused_[static_cast<std::size_t>(reason(of))];
}

void segment_table::count(const segment& of) {
  sum_of(of) += of.unused();
  if (auto* const pool = pool_of(of); pool != nullptr) {
    pool->reserved += of.unused() + of.used;
    pool->used += of.used;
  }
}

void segment_table::uncount(const segment& of) {
  sum_of(of) -= of.unused();
  if (auto* const pool = pool_of(of); pool != nullptr) {
    pool->reserved -= of.unused() + of.used;
    pool->used -= of.used;
  }
}

void segment_table::set_replayed(const trace::pool_id& pool, bool replayed) {
  auto& bytes = pools_[{pool.first, pool.second}];
  if (bytes.replayed == replayed) return;
  bytes.replayed = replayed;
  auto& unused = unused_[static_cast<std::size_t>(unused_reason::private_pools)];
  const auto moved = bytes.reserved - bytes.used;
  unused += replayed ? ~moved + 1 : moved;
  graph_pools_ += replayed ? moved : ~moved + 1;
}

std::uint64_t segment_table::used_in(const trace::pool_id& pool) const {
  const auto found = pools_.find({pool.first, pool.second});
  return found == pools_.end() ? 0 : found->second.used;
}

void segment_table::add(const trace::allocator_event& record) {
  auto [place, is_new] = segments_.try_emplace(record.address);
  if (!is_new) {
    uncount(place->second);
    reserved_ -= place->second.bytes - place->second.asleep;
    asleep_ -= place->second.asleep;
  }
  place->second = {
      record.size, 0, record.stream, record.pool, record.kind == format::kind::segment_map, 0, 0};
  reserved_ += record.size;
  count(place->second);
}

void segment_table::remove(const trace::allocator_event& record) {
  auto place = segments_.upper_bound(record.address);
  if (place != segments_.begin()) --place;
  while (place != segments_.end() &&
         (place->first < record.address || place->first - record.address < record.size)) {
    const auto here = place++;
    cut(here, record.address, record.size);
  }
  latest_ = segments_.end();
}

// Takes [address, address + bytes) out of one segment; what is left on either side stays.
void segment_table::cut(map::iterator place, std::uint64_t address, std::uint64_t bytes) {
  const auto start = place->first;
  const auto old = place->second;
  const auto from = address > start ? std::min(address - start, old.bytes) : 0;
  const auto skipped = start > address ? start - address : 0;
  const auto wanted = skipped < bytes ? bytes - skipped : 0;
  const auto gone = std::min(wanted, old.bytes - from);
  if (gone == 0) return;
  uncount(old);
  reserved_ -= gone;
  segments_.erase(place);
  const auto keep = [&](std::uint64_t at, std::uint64_t size) {
    if (size == 0) return;
    auto& rest = segments_[at];
    rest = old;
    rest.bytes = size;
    rest.used = std::min(old.used, size);
    count(rest);
  };
  keep(start, from);
  keep(start + from + gone, old.bytes - from - gone);
}

segment* segment_table::find(std::uint64_t address) {
  if (latest_ == segments_.end() || address - latest_->first >= latest_->second.bytes) {
    latest_ = segments_.upper_bound(address);
    if (latest_ == segments_.begin()) {
      latest_ = segments_.end();
      return nullptr;
    }
    --latest_;
    if (address - latest_->first >= latest_->second.bytes) {
      latest_ = segments_.end();
      return nullptr;
    }
  }
  return &latest_->second;
}

void segment_table::change(std::uint64_t address, std::uint64_t difference) {
  auto* const found = find(address);
  if (found == nullptr) return;
  if (found->expandable) {
    sum_of(*found) -= difference;
    if (auto* const pool = pool_of(*found); pool != nullptr) pool->used += difference;
    return;
  }
  uncount(*found);
  found->used += difference;
  count(*found);
}

std::vector<address_range> segment_table::not_expandable(address_range where) const {
  std::vector<address_range> found;
  auto at = segments_.upper_bound(where.begin);
  if (at != segments_.begin()) --at;
  for (; at != segments_.end() && at->first < where.end; ++at) {
    const auto end = at->first + at->second.bytes;
    if (at->second.expandable || end <= where.begin) continue;
    found.push_back({std::max(at->first, where.begin), std::min(end, where.end)});
  }
  return found;
}

address_range segment_table::with_whole_segments(address_range where) const {
  auto found = where;
  auto at = segments_.upper_bound(where.begin);
  if (at != segments_.begin()) --at;
  for (; at != segments_.end() && at->first < where.end; ++at) {
    const auto end = at->first + at->second.bytes;
    if (end <= where.begin) continue;
    found = {std::min(found.begin, at->first), std::max(found.end, end)};
  }
  return found;
}

void segment_table::change_asleep(address_range where, std::uint64_t difference) {
  auto* const found = find(where.begin);
  if (found == nullptr || found->expandable) return;
  uncount(*found);
  found->asleep += difference;
  count(*found);
  asleep_ += difference;
  reserved_ -= difference;
}

void segment_table::sleep_used(std::uint64_t address, std::uint64_t difference) {
  auto* const found = find(address);
  if (found == nullptr || found->expandable) return;
  uncount(*found);
  found->asleep_used += difference;
  count(*found);
}

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
