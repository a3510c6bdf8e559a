// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/start_of_history.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "analyzer/model/snapshot/ranges.h"

namespace memtrace::snapshot {

namespace {

using format::kind;

class search {
 public:
  search(const contents& of, std::uint32_t device) : of_(of), device_(device) {}

  void see(const event_row& row) {
    switch (row.kind) {
      case kind::alloc:
        if (const auto known = blocks_.find(row.address);
            known != blocks_.end() && known->second != state::gone) {
          ++found_.contradictions;
        }
        blocks_[row.address] = state::allocated;
        break;
      case kind::free_requested:
      case kind::free_completed:
        free(row);
        break;
      case kind::segment_alloc:
        segments_[row.address] = true;
        break;
      case kind::segment_free:
        ++found_.returns[row.address];
        if (const auto [known, is_new] = segments_.try_emplace(row.address, false); is_new) {
          found_.segments.push_back(segment_of(row, row.address, row.size, false));
        } else {
          known->second = false;
        }
        break;
      case kind::segment_map:
        touched_.add(row.address, row.address + row.size);
        break;
      case kind::segment_unmap:
        touched_.each_gap(row.address, row.address + row.size, [&](auto begin, auto end) {
          found_.segments.push_back(segment_of(row, begin, end - begin, true));
        });
        touched_.add(row.address, row.address + row.size);
        break;
      default:
        break;
    }
  }

  [[nodiscard]] start_of_history finish() {
    for (const auto& one : of_.segments) {
      if (one.device == device_) see_end(one);
    }
    for (const auto& [address, what] : blocks_) {
      if (what == state::allocated || what == state::pending) ++found_.contradictions;
    }
    std::ranges::sort(found_.segments, {}, &held_segment::address);
    for (auto& one : found_.blocks) borrow_pool(one);
    std::ranges::sort(found_.blocks, {}, &held_block::address);
    return std::move(found_);
  }

 private:
  enum class state : std::uint8_t { allocated, pending, gone, seen_at_end };

  void free(const event_row& row) {
    const bool completes = row.kind == kind::free_completed;
    const auto after = completes ? state::gone : state::pending;
    const auto [known, is_new] = blocks_.try_emplace(row.address, after);
    if (!is_new) {
      if (known->second == state::gone) ++found_.contradictions;
      known->second = after;
      return;
    }
    held_block one;
    one.address = row.address;
    one.requested = row.size;
    one.stream = row.stream;
    one.pool_first = row.pool_first;
    one.pool_second = row.pool_second;
    one.pending = completes;
    found_.blocks.push_back(one);
  }

  [[nodiscard]] static held_segment segment_of(const event_row& row, std::uint64_t address,
                                               std::uint64_t bytes, bool expandable) {
    return {address, bytes, row.stream, row.pool_first, row.pool_second, 0, expandable};
  }

  void see_end(const segment& one) {
    const auto held = [&](std::uint64_t begin, std::uint64_t end) {
      found_.segments.push_back({begin, end - begin, one.stream, one.pool_first, one.pool_second,
                                 one.stack, one.expandable});
    };
    if (one.expandable) {
      touched_.each_gap(one.address, one.address + one.bytes, held);
    } else if (const auto known = segments_.find(one.address); known == segments_.end()) {
      held(one.address, one.address + one.bytes);
    } else if (!known->second) {
      ++found_.contradictions;
    }
    for (std::uint32_t i = 0; i < one.blocks; ++i) see_end(one, of_.blocks[one.first_block + i]);
  }

  void see_end(const segment& in, const block& one) {
    if (one.state == block_state::inactive) return;
    const bool pending = one.state == block_state::pending;
    const auto [known, is_new] = blocks_.try_emplace(one.address, state::seen_at_end);
    if (is_new) {
      const auto requested = of_.has_requested ? one.requested : one.bytes;
      found_.blocks.push_back({one.address, one.bytes, requested, in.stream, in.pool_first,
                               in.pool_second, one.stack, pending});
      return;
    }
    if (known->second != (pending ? state::pending : state::allocated)) ++found_.contradictions;
    known->second = state::seen_at_end;
  }

  // Only the free is known of a block that is gone, and it names no pool in older versions.
  void borrow_pool(held_block& one) const {
    if (one.bytes != 0) return;
    const auto behind =
        std::ranges::upper_bound(found_.segments, one.address, {}, &held_segment::address);
    if (behind == found_.segments.begin()) return;
    const auto& around = *std::prev(behind);
    if (one.address >= around.address + around.bytes) return;
    one.pool_first = around.pool_first;
    one.pool_second = around.pool_second;
  }

  const contents& of_;
  std::uint32_t device_;
  start_of_history found_;
  std::unordered_map<std::uint64_t, state> blocks_;   // by address
  std::unordered_map<std::uint64_t, bool> segments_;  // by address: there
  ranges touched_;                                    // mapped or unmapped in the history
};

}  // namespace

std::uint64_t start_of_history::allocated() const {
  std::uint64_t sum = 0;
  for (const auto& one : blocks) {
    if (!one.pending) sum += one.bytes != 0 ? one.bytes : one.requested;
  }
  return sum;
}

start_of_history find_start(contents& of, std::uint32_t device) {
  search through(of, device);
  bool failed = false;
  if (device < of.traces.size()) {
    event_log::reader rows(of.events, of.traces[device].first, of.traces[device].count);
    while (const auto* const row = rows.next()) through.see(*row);
    failed = rows.failed();
  }
  auto found = through.finish();
  found.failed = failed;
  return found;
}

}  // namespace memtrace::snapshot
