// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/model.h"

#include <algorithm>
#include <numeric>

#include "analyzer/model/allocator/rounding.h"

namespace memtrace::allocator {

namespace {

// An exabyte: of more PyTorch says at once that it is too much.
constexpr std::uint64_t most_requested = std::uint64_t{1} << 60;

[[nodiscard]] std::uint64_t expandable_size(const block_slab& blocks, const block& one) {
  const auto& next = blocks[one.next];
  const bool grows = one.next != no_block && next.state == block_state::unmapped;
  return one.size + (grows ? next.size : 0);
}

}  // namespace

model::model(const request_log& log, const settings& options, std::uint64_t total_bytes,
             driver& answers)
    : driver_(answers),
      options_(options),
      total_bytes_(total_bytes),
      by_number_(log.blocks(), no_block),
      rank_of_stream_(log.streams.size()),
      stream_of_rank_(log.streams.size()),
      pools_(2 * std::max<std::size_t>(log.pools.size(), 1)),
      pool_states_(std::max<std::size_t>(log.pools.size(), 1)) {
  std::iota(stream_of_rank_.begin(), stream_of_rank_.end(), std::uint16_t{0});
  std::stable_sort(stream_of_rank_.begin(), stream_of_rank_.end(),
                   [&](auto a, auto b) { return log.streams[a] < log.streams[b]; });
  for (std::size_t rank = 0; rank < stream_of_rank_.size(); ++rank) {
    rank_of_stream_[stream_of_rank_[rank]] = static_cast<std::uint16_t>(rank);
  }
  set_fraction(options.memory_fraction);
}

void model::set_options(const settings& options) {
  options_ = options;
}

void model::set_fraction(double fraction) {
  allowed_bytes_.reset();
  if (!(fraction >= 0 && fraction < 1) || total_bytes_ == 0) return;
  allowed_bytes_ = static_cast<std::uint64_t>(fraction * static_cast<double>(total_bytes_));
}

stream_blocks& model::blocks_of(std::uint16_t pool, std::uint16_t stream) {
  auto& by_stream = pools_[pool].by_stream;
  if (by_stream.size() <= stream) by_stream.resize(stream + std::size_t{1});
  auto& found = by_stream[stream];
  if (found == nullptr) found = std::make_unique<stream_blocks>();
  return *found;
}

void model::put(block_index index) {
  auto& one = blocks_[index];
  one.inserted_at = pools_[one.pool].searches;
  one.home->cached.insert({one.size, one.address, index});
}

void model::take(block_index index) {
  const auto& one = blocks_[index];
  one.home->cached.erase({one.size, one.address, index});
}

bool model::collects_garbage() const {
  return allowed_bytes_.has_value() && options_.garbage_collection_threshold > 0;
}

std::optional<model::placed> model::allocate(const request& asked) {
  if (asked.size > most_requested || asked.block >= by_number_.size() ||
      asked.stream >= rank_of_stream_.size() || asked.pool >= pool_states_.size() ||
      by_number_[asked.block] != no_block) {
    return std::nullopt;
  }
  wanted want;
  want.size = round_size(options_, asked.size);
  want.segment = segment_bytes(options_, want.size);
  want.stream = rank_of_stream_[asked.stream];
  want.pool = static_cast<std::uint16_t>(2u * asked.pool + (want.size <= small_size ? 0u : 1u));
  want.expandable = options_.expandable_segments && !pool_states_[asked.pool].own_allocator;
  auto index = find_cached(want);
  if (index == no_block) index = find_anywhere(want);
  if (index == no_block) return std::nullopt;
  if (should_split(blocks_[index], want)) index = split(index, want.size);
  auto& made = blocks_[index];
  made.state = block_state::allocated;
  made.requested = asked.size;
  made.number = asked.block;
  by_number_[asked.block] = index;
  allocated_ += made.size;
  active_ += made.size;
  return placed{made.address, made.size};
}

// The smallest cached block that serves, out of the free list; none: no_block.
block_index model::find_cached(const wanted& want) {
  if (collects_garbage()) ++pools_[want.pool].searches;
  const auto& list = blocks_of(want.pool, want.stream).cached;
  auto at = list.lower_bound(want.size);
  if (!at) return no_block;
  if (blocks_[list[at].index].is_expandable()) {
    if (want.expandable) {
      // Among those that can grow, one that grows less may come later: it counts with the unmapped
      // space behind it.
      for (auto next = list.next(at); next && blocks_[list[at].index].is_expandable() &&
                                      expandable_size(blocks_, blocks_[list[next].index]) <
                                          expandable_size(blocks_, blocks_[list[at].index]);
           next = list.next(next)) {
        at = next;
      }
    } else {
      do {
        at = list.next(at);
      } while (at && blocks_[list[at].index].is_expandable());
      if (!at) return no_block;
    }
  }
  const auto size = list[at].size;
  if (want.size < options_.max_split_size) {
    if (size >= options_.max_split_size) return no_block;
  } else if (size - want.size >= options_.max_non_split_rounding) {
    return no_block;
  }
  const auto index = list[at].index;
  take(index);
  return index;
}

block_index model::find_anywhere(wanted& want) {
  if (collects_garbage()) collect_garbage();
  auto found = new_segment(want);
  if (found == no_block) found = find_in_other_pools(want);
  if (found == no_block && release_oversize(want)) found = new_segment(want);
  if (found == no_block && diverted_.empty()) {
    release_cached(0);
    ++retries_;
    found = new_segment(want);
  }
  return found;
}

// In private pools that were opened to the default one (MemPool's use_on_oom).
block_index model::find_in_other_pools(wanted& want) {
  if (want.pool > 1 || serving_pools_.empty()) return no_block;
  // PyTorch keeps them in a hash table of a few, which gives the latest first.
  for (auto each = serving_pools_.rbegin(); each != serving_pools_.rend(); ++each) {
    const auto pool = *each;
    auto there = want;
    there.pool = static_cast<std::uint16_t>(2u * pool + want.pool);
    there.expandable = false;
    if (const auto found = find_cached(there); found != no_block) {
      want = there;
      return found;
    }
  }
  return no_block;
}

bool model::should_split(const block& found, const wanted& want) const {
  if (pool_states_[found.pool / 2].no_split) return false;
  const auto remaining = found.size - want.size;
  if (is_small(found.pool) || want.expandable) return remaining >= min_block_size;
  return want.size < options_.max_split_size && remaining > small_size;
}

// The lower part, of so many bytes; the rest is cached.
block_index model::split(block_index found, std::uint64_t size) {
  const auto lower = blocks_.create();
  auto& rest = blocks_[found];
  auto& made = blocks_[lower];
  made.address = rest.address;
  made.size = size;
  made.stream = rest.stream;
  made.pool = rest.pool;
  made.home = rest.home;
  made.expandable = rest.expandable;
  blocks_.link(lower, rest.previous, found);
  rest.address += size;
  rest.size -= size;
  put(found);
  return lower;
}

void model::free(block_number number, bool held_up) {
  if (number >= by_number_.size() || by_number_[number] == no_block) return;
  const auto index = by_number_[number];
  auto& one = blocks_[index];
  if (one.state != block_state::allocated) return;
  allocated_ -= one.size;
  if (held_up) {
    one.state = block_state::pending;
    pending_.insert(index);
  } else {
    make_free(index);
  }
}

bool model::complete(block_number number) {
  if (number >= by_number_.size() || by_number_[number] == no_block) return false;
  const auto index = by_number_[number];
  if (blocks_[index].state != block_state::pending) return false;
  pending_.erase(index);
  make_free(index);
  return true;
}

void model::make_free(block_index index) {
  auto& one = blocks_[index];
  active_ -= one.size;
  by_number_[one.number] = no_block;
  one.state = block_state::cached;
  merge(index, one.previous);
  merge(index, one.next);
  put(index);
}

bool model::merge(block_index into, block_index from) {
  if (from == no_block) return false;
  auto& one = blocks_[into];
  auto& other = blocks_[from];
  if (!other.is_free() || one.state != other.state) return false;
  if (other.state == block_state::unmapped) {
    other.home->unmapped.erase({other.address, from});
  } else {
    take(from);
  }
  if (one.previous == from) {
    one.address = other.address;
    blocks_.link(into, other.previous, one.next);
  } else {
    blocks_.link(into, one.previous, other.next);
  }
  one.size += other.size;
  blocks_.destroy(from);
  return true;
}

void model::operate(const request& asked) {
  if (asked.pool >= pool_states_.size()) return;
  auto& pool = pool_states_[asked.pool];
  const auto index = static_cast<std::uint16_t>(asked.pool);
  switch (asked.what()) {
    case action::empty_cache:
      release_cached(index);
      break;
    case action::pool_create:
    case action::pool_begin:
      pool.users += asked.what() == action::pool_begin && asked.size != 0 ? 2 : 1;
      pool.released = false;
      if (asked.what() == action::pool_create) pool.own_allocator = asked.size != 0;
      if (asked.what() == action::pool_begin) diverted_.push_back(index);
      break;
    case action::pool_end:
      if (const auto at = std::find(diverted_.begin(), diverted_.end(), index);
          at != diverted_.end()) {
        diverted_.erase(at);
      }
      break;
    case action::pool_release:
      if (pool.users > 0) --pool.users;
      pool.released = pool.users == 0 && index != 0;
      break;
    case action::pool_no_split:
      pool.no_split = true;
      break;
    case action::pool_use_on_oom:
      std::erase(serving_pools_, index);
      if (asked.size != 0) serving_pools_.push_back(index);
      break;
    default:
      break;
  }
}

layout model::map_of_heap() const {
  layout heap;
  heap.reserved = reserved_;
  heap.allocated = allocated_;
  heap.active = active_;
  for (std::size_t i = 1; i < blocks_.size(); ++i) {
    const auto& first = blocks_[static_cast<block_index>(i)];
    if (!first.live || first.previous != no_block) continue;
    layout_segment segment;
    segment.address = first.address;
    segment.stream = stream_of_rank_[first.stream];
    segment.pool = first.pool / 2;
    segment.small = is_small(first.pool);
    segment.expandable = first.is_expandable();
    for (auto index = static_cast<block_index>(i); index != no_block; index = blocks_[index].next) {
      const auto& one = blocks_[index];
      segment.bytes += one.size;
      if (one.state != block_state::unmapped) segment.mapped += one.size;
      layout_block shown{one.address, one.size, 0, one.state, 0};
      if (!one.is_free()) {
        shown.number = one.number;
        shown.requested = one.requested;
      }
      segment.blocks.push_back(shown);
    }
    heap.segments.push_back(std::move(segment));
  }
  std::sort(heap.segments.begin(), heap.segments.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  return heap;
}

}  // namespace memtrace::allocator
