// SPDX-License-Identifier: Apache-2.0
//
// How the model gets segments from the driver and gives them back.
#include <algorithm>

#include "analyzer/model/allocator/model.h"

namespace memtrace::allocator {

void model::reserve(std::uint64_t bytes) {
  reserved_ += bytes;
  most_reserved_ = std::max(most_reserved_, reserved_);
}

block_index model::new_segment(const wanted& want) {
  // The fraction is checked with the size of a segment, also where an expandable one needs less.
  if (allowed_bytes_ && reserved_ + want.segment > *allowed_bytes_) return no_block;
  if (want.expandable) return expand(want);
  ++calls_.allocations;
  const auto address = driver_.allocate(want.segment);
  if (!address) {
    ++calls_.failed;
    return no_block;
  }
  const auto index = blocks_.create();
  auto& made = blocks_[index];
  made.address = *address;
  made.size = want.segment;
  made.stream = want.stream;
  made.pool = want.pool;
  made.home = &blocks_of(want.pool, want.stream);
  reserve(want.segment);
  return index;
}

// A whole segment that is cached.
void model::release_segment(block_index index) {
  const auto& one = blocks_[index];
  take(index);
  ++calls_.frees;
  reserved_ -= one.size;
  driver_.free(one.address, one.size);
  blocks_.destroy(index);
}

// Cached segments of large blocks that were not used for longer than the average, until the
// reserved bytes are below the threshold. Searches of the pool are the clock.
void model::collect_garbage() {
  const auto threshold = static_cast<std::uint64_t>(options_.garbage_collection_threshold *
                                                    static_cast<double>(*allowed_bytes_));
  if (reserved_ <= threshold) return;
  const auto target = reserved_ - threshold;
  auto& pool = pools_[1];  // the default pool's large blocks
  std::vector<block_index> whole;
  double ages = 0;
  const auto age = [&](const block& one) {
    return static_cast<double>(pool.searches - one.inserted_at);
  };
  for (const auto& stream : pool.by_stream) {
    if (stream == nullptr) continue;
    const auto& list = stream->cached;
    for (auto at = list.first(); at; at = list.next(at)) {
      if (blocks_[list[at].index].is_split()) continue;
      whole.push_back(list[at].index);
      ages += age(blocks_[list[at].index]);
    }
  }
  auto left = static_cast<double>(whole.size());
  std::uint64_t reclaimed = 0;
  for (bool freed = true; reclaimed < target && freed && left > 0;) {
    const double limit = ages / left;
    freed = false;
    std::erase_if(whole, [&](block_index index) {
      const auto& one = blocks_[index];
      if (one.is_expandable() || age(one) < limit) return false;
      freed = true;
      reclaimed += one.size;
      ages -= age(one);
      --left;
      release_segment(index);
      return true;
    });
  }
}

// Only with max_split_size: one block that is large enough, or several oversize ones, the largest
// first. False: not enough, though some may have gone. A part of a segment, which can be so large
// where expandable segments were on for a while, stays: PyTorch dies of giving it to cudaFree.
bool model::release_oversize(const wanted& want) {
  if (options_.max_split_size == unlimited) return false;
  const auto needed = std::max(want.size, options_.max_split_size);
  const auto& list = blocks_of(want.pool, want.stream).cached;
  const auto enough = list.lower_bound(needed);
  if (enough && !blocks_[list[enough].index].is_expandable()) {
    if (blocks_[list[enough].index].is_split()) return false;
    release_segment(list[enough].index);
    return true;
  }
  std::vector<block_index> going;
  std::uint64_t released = 0;
  for (auto at = enough ? list.previous(enough) : list.last();
       at && released < needed && list[at].size >= options_.max_split_size;
       at = list.previous(at)) {
    const auto& one = blocks_[list[at].index];
    if (one.is_expandable() || one.is_split()) continue;
    released += list[at].size;
    going.push_back(list[at].index);
  }
  for (const auto index : going) release_segment(index);
  return released >= needed;
}

// Everything that is cached in whole segments, or of one private pool that nobody uses any more.
void model::release_cached(std::uint16_t pool) {
  if (pool == 0 && diverted_.empty()) {
    synchronise(std::nullopt);
    release_pool(1);
    release_pool(0);
  }
  for (std::size_t i = 1; i < pool_states_.size(); ++i) {
    const auto which = static_cast<std::uint16_t>(i);
    if (!pool_states_[i].released || (pool != 0 && pool != which)) continue;
    if (pool != 0) synchronise(which);
    release_pool(static_cast<std::uint16_t>(2 * i));
    release_pool(static_cast<std::uint16_t>(2 * i + 1));
  }
}

void model::release_pool(std::uint16_t pool) {
  std::vector<block_index> whole;
  std::vector<block_index> expandable;
  for (const auto& stream : pools_[pool].by_stream) {
    if (stream == nullptr) continue;
    const auto& list = stream->cached;
    for (auto at = list.first(); at; at = list.next(at)) {
      const auto& one = blocks_[list[at].index];
      if (one.is_expandable()) {
        expandable.push_back(list[at].index);
      } else if (!one.is_split()) {
        whole.push_back(list[at].index);
      }
    }
  }
  for (const auto index : whole) release_segment(index);
  for (const auto index : expandable) {
    unmap(index);
    const auto& one = blocks_[index];
    if (one.state == block_state::unmapped && !one.is_split()) release_expandable(index);
  }
}

// Waits for the streams that hold freed blocks up.
void model::synchronise(std::optional<std::uint16_t> only_pool) {
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto index = *at;
    if (only_pool && blocks_[index].pool / 2 != *only_pool) {
      ++at;
      continue;
    }
    at = pending_.erase(at);
    make_free(index);
  }
}

}  // namespace memtrace::allocator
