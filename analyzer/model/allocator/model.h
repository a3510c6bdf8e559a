// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's native caching allocator of one device, without memory: segments cut into blocks, free
// lists by pool and stream, and a driver (driver.h) behind it. Sizes are bytes.
//
//   allocate ─► best fit among the cached blocks ─► garbage collection ─► a new segment
//            ─► release some oversize blocks, try again ─► release all cached, try again ─► refused
//   free     ─► cached and merged with free neighbours, or pending until `complete`
//
// All that is said of PyTorch here was read in CUDACachingAllocator.cpp of 2.10 and 2.11, and is
// checked against the allocator itself by differential tests.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/model/allocator/block_slab.h"
#include "analyzer/model/allocator/driver.h"
#include "analyzer/model/allocator/free_list.h"
#include "analyzer/model/allocator/layout.h"
#include "analyzer/model/allocator/request_log.h"
#include "analyzer/model/allocator/settings.h"
#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

// The free blocks of one pool (small or large) and stream.
struct stream_blocks {
  free_list cached;
  std::set<std::pair<std::uint64_t, block_index>> unmapped;  // by address
};

class model {
 public:
  // `total_bytes` of the device: the base of the memory fraction and of address spaces; 0:
  // unlimited. `answers` must outlive the model.
  model(const request_log& log, const settings& options, std::uint64_t total_bytes,
        driver& answers);

  struct placed {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  // The place of the allocation, or empty if it was refused.
  [[nodiscard]] std::optional<placed> allocate(const request& asked);
  void free(block_number number, bool held_up);
  // False: nothing was pending.
  bool complete(block_number number);
  // pool_*, empty_cache.
  void operate(const request& asked);
  void set_options(const settings& options);
  void set_fraction(double fraction);

  [[nodiscard]] std::uint64_t reserved() const { return reserved_; }
  // The most so far, also of what was mapped and given back within one request.
  [[nodiscard]] std::uint64_t most_reserved() const { return most_reserved_; }
  [[nodiscard]] std::uint64_t allocated() const { return allocated_; }
  [[nodiscard]] std::uint64_t active() const { return active_; }
  [[nodiscard]] std::uint64_t retries() const { return retries_; }
  [[nodiscard]] const driver_calls& calls() const { return calls_; }
  [[nodiscard]] const settings& options() const { return options_; }
  [[nodiscard]] layout map_of_heap() const;

 private:
  // Blocks of a pool of one kind (small or large).
  struct block_pool {
    std::vector<std::unique_ptr<stream_blocks>> by_stream;  // by rank; null: none yet
    std::uint64_t searches = 0;
  };
  struct pool_state {
    std::uint64_t users = 0;
    bool no_split = false;
    bool own_allocator = false;
    bool released = false;  // nobody uses it any more: its cached memory may go
  };
  struct expandable_segment {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  // of address space
    std::uint64_t granule = 0;
  };
  struct wanted {
    std::uint64_t size = 0;     // rounded
    std::uint64_t segment = 0;  // bytes to ask cudaMalloc for
    std::uint16_t stream = 0;   // rank
    std::uint16_t pool = 0;     // as block::pool
    bool expandable = false;
  };

  // model.cpp
  [[nodiscard]] static bool is_small(std::uint16_t pool) { return (pool & 1u) == 0; }
  [[nodiscard]] stream_blocks& blocks_of(std::uint16_t pool, std::uint16_t stream);
  void put(block_index index);   // into the free list
  void take(block_index index);  // out of it
  // `from` becomes part of `into`, its neighbour, if that may be; false: it may not.
  bool merge(block_index into, block_index from);
  void make_free(block_index index);
  [[nodiscard]] block_index find_cached(const wanted& want);
  [[nodiscard]] block_index find_anywhere(wanted& want);
  [[nodiscard]] block_index find_in_other_pools(wanted& want);
  [[nodiscard]] bool should_split(const block& found, const wanted& want) const;
  [[nodiscard]] block_index split(block_index found, std::uint64_t size);
  [[nodiscard]] bool collects_garbage() const;

  // segments.cpp
  void reserve(std::uint64_t bytes);
  [[nodiscard]] block_index new_segment(const wanted& want);
  void release_segment(block_index index);
  void collect_garbage();
  [[nodiscard]] bool release_oversize(const wanted& want);
  void release_cached(std::uint16_t pool);
  void release_pool(std::uint16_t pool);
  void synchronise(std::optional<std::uint16_t> only_pool);

  // expandable.cpp
  [[nodiscard]] block_index expand(const wanted& want);
  [[nodiscard]] block_index find_address_space(const wanted& want);
  [[nodiscard]] block_index new_expandable(const wanted& want);
  [[nodiscard]] bool map(block_index index, std::uint64_t bytes);
  void unmap(block_index index);
  void release_expandable(block_index index);

  driver& driver_;
  settings options_;
  std::uint64_t total_bytes_;
  std::optional<std::uint64_t> allowed_bytes_;  // by the memory fraction, if that is below 1

  block_slab blocks_;
  std::vector<block_index> by_number_;
  std::vector<std::uint16_t> rank_of_stream_;  // ascending handles, as PyTorch sorts
  std::vector<std::uint16_t> stream_of_rank_;
  std::vector<block_pool> pools_;  // as block::pool
  std::vector<pool_state> pool_states_;
  std::vector<std::uint16_t> diverted_;       // pools that allocations of some thread go to now
  std::vector<std::uint16_t> serving_pools_;  // the default pool when it is out of memory
  std::vector<expandable_segment> expandables_;
  std::vector<std::uint32_t> unused_expandables_;
  std::set<block_index> pending_;

  std::uint64_t reserved_ = 0;
  std::uint64_t most_reserved_ = 0;
  std::uint64_t allocated_ = 0;
  std::uint64_t active_ = 0;
  std::uint64_t retries_ = 0;
  driver_calls calls_;
};

}  // namespace memtrace::allocator
