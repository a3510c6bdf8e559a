// SPDX-License-Identifier: Apache-2.0
//
// The segments that the caching allocator holds on one device, and what of them is unused and
// why, kept up to date at every event; and the largest free block in them. What is asleep
// (residency.h) is neither reserved nor unused here.
//
//   segment_alloc ──► whole segment            ┌ in use ─┬ unused ┬ in use ┐
//   segment_map ────► range of an expandable   └─────────┴────────┴────────┘
//                     segment, cut by unmap
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/model/replay/residency.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::replay {

// Why reserved memory is not in use. The order is that of unused_bytes.
enum class unused_reason : std::uint8_t {
  empty_segments,  // nothing in the segment is in use: empty_cache would return it
  split_segments,  // the segment is partly in use
  expandable,      // mapped into an expandable segment
  private_pools,   // belongs to a MemPool, or to a CUDA graph that is gone or still captured
};
inline constexpr std::size_t unused_reasons = 4;
using unused_bytes = std::array<std::uint64_t, unused_reasons>;

struct segment {
  std::uint64_t bytes = 0;
  // By blocks, those waiting for another stream included. Not kept for expandable ranges, whose
  // borders blocks do not respect.
  std::uint64_t used = 0;
  std::uint64_t stream = 0;
  trace::pool_id pool;
  bool expandable = false;
  std::uint64_t asleep = 0;
  std::uint64_t asleep_used = 0;  // of it, what is in `used`
  [[nodiscard]] std::uint64_t unused() const { return bytes - used - (asleep - asleep_used); }
};

// Of one private pool.
struct pool_bytes {
  std::uint64_t reserved = 0;  // without what is asleep and in no block
  std::uint64_t used = 0;      // by blocks, those waiting for another stream included
  bool replayed = false;       // CUDA graphs work in it
};

class segment_table {
 public:
  using map = std::map<std::uint64_t, segment>;  // by address

  segment_table() = default;
  segment_table(const segment_table&) = delete;
  segment_table& operator=(const segment_table&) = delete;

  void add(const trace::allocator_event& record);     // segment_alloc, segment_map
  void remove(const trace::allocator_event& record);  // segment_free, segment_unmap

  // A block at this address takes or gives back bytes. A block that is in no segment counts as
  // used nowhere.
  void use(std::uint64_t address, std::uint64_t bytes) { change(address, bytes); }
  void release(std::uint64_t address, std::uint64_t bytes) { change(address, ~bytes + 1); }

  // CUDA graphs work in the pool from here on, or no longer do: what blocks do not use of it is then
  // graph_pools() instead of a part of unused().
  void set_replayed(const trace::pool_id& pool, bool replayed);

  // Of a range, what lies in segments whose memory is not PyTorch's own to map: what it maps and
  // unmaps of expandable segments it tells, too.
  [[nodiscard]] std::vector<address_range> not_expandable(address_range where) const;
  // The range and all of each segment that it touches.
  [[nodiscard]] address_range with_whole_segments(address_range where) const;
  // A range within one segment falls asleep or wakes up.
  void sleep(address_range where) { change_asleep(where, where.bytes()); }
  void wake(address_range where) { change_asleep(where, ~where.bytes() + 1); }
  // Of the bytes that a block uses in its segment, so many more are asleep, in two's complement.
  void sleep_used(std::uint64_t address, std::uint64_t difference);

  [[nodiscard]] bool has(std::uint64_t address) { return find(address) != nullptr; }
  [[nodiscard]] std::uint64_t reserved() const { return reserved_; }
  [[nodiscard]] std::uint64_t asleep() const { return asleep_; }
  [[nodiscard]] const unused_bytes& unused() const { return unused_; }
  // In no block, but replays of CUDA graphs need it.
  [[nodiscard]] std::uint64_t graph_pools() const { return graph_pools_; }
  [[nodiscard]] std::uint64_t used_in(const trace::pool_id& pool) const;
  [[nodiscard]] const map& segments() const { return segments_; }

 private:
  [[nodiscard]] static unused_reason reason(const segment& of);
  [[nodiscard]] pool_bytes* pool_of(const segment& of);
  // Where the bytes of it that no block uses are counted.
  [[nodiscard]] std::uint64_t& sum_of(const segment& of);
  // Null: no segment has it.
  [[nodiscard]] segment* find(std::uint64_t address);
  void change(std::uint64_t address, std::uint64_t difference);
  void change_asleep(address_range where, std::uint64_t difference);
  void count(const segment& of);
  void uncount(const segment& of);
  void cut(map::iterator place, std::uint64_t address, std::uint64_t bytes);

  map segments_;
  map::iterator latest_ = segments_.end();  // allocations tend to stay in one segment
  std::uint64_t reserved_ = 0;
  std::uint64_t asleep_ = 0;
  unused_bytes unused_{};
  std::uint64_t graph_pools_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, pool_bytes> pools_;  // the private ones
};

// The free blocks of a device at one moment: what segments have and blocks do not. Worked out
// from nothing each time, so only for moments that matter (out of memory).
struct memory_range {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct largest_free {
  std::uint64_t overall = 0;  // bytes, whatever stream and pool
  // Usable for the request: PyTorch looks only at free blocks of the request's stream, of its
  // pool (default or private), and of its size class (segments of 2 MiB serve up to 1 MiB).
  std::uint64_t usable = 0;
};

// `in_use` in any order, those waiting for a stream included; `request` is the rounded size.
[[nodiscard]] largest_free find_largest_free(const segment_table::map& segments,
                                             std::vector<memory_range> in_use,
                                             const trace::allocator_event& request);

}  // namespace memtrace::replay
