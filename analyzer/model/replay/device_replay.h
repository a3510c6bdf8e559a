// SPDX-License-Identifier: Apache-2.0
//
// The memory of PyTorch's caching allocator on one device, kept up to date event by event.
//
//          alloc            free_requested          free_completed
//   free ─────────► in use ────────────────► pending ─────────────► free
//                   allocated                (a stream may still
//                                             use it)
//
// `allocated` and `reserved` are sums over blocks and segments. After an alloc or a free the
// allocator says its own two totals (on_report): equal, unless events are missing. A difference
// that persists is one mismatch, not one an event. Peaks are in the allocator's terms: replayed
// sum plus the difference (of what was there before the recording began, for example).
// Cost: O(1) an event but for the search of a segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyzer/model/replay/address_map.h"
#include "analyzer/model/replay/graph_pools.h"
#include "analyzer/model/replay/segment_table.h"
#include "analyzer/model/replay/site_table.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::replay {

// Bytes on a device at one moment.
struct device_totals {
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
  std::uint64_t requested = 0;  // of the blocks in allocated, before rounding
  std::uint64_t pending = 0;    // freed, waiting for a stream; neither allocated nor unused
  std::uint64_t blocks = 0;     // in use
  unused_bytes unused{};
  std::uint64_t graph_pools =
      0;  // in no block, but replays of CUDA graphs need it: see graph_pools

  // Reserved and of no use: what is pending is in it, what graphs need is not.
  [[nodiscard]] std::uint64_t all_unused() const {
    const auto used = allocated + graph_pools;
    return reserved - std::min(used, reserved);
  }
};

struct moment {
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  device_totals totals;
};

// The least a block for this request can be.
[[nodiscard]] std::uint64_t least_block(std::uint64_t requested);

class device_replay {
 public:
  void on_allocator(const trace::event& head, const trace::allocator_event& record);
  void on_operation(const trace::event& head, const trace::operation_event& record);
  void on_report(const trace::report_event& report);
  void on_reported(const trace::event& head, const trace::reported_event& record);
  // Events are missing from here back to some moment: from now on a difference means nothing.
  void lose_count() { counts_mismatches_ = false; }
  void finish();  // no more events

  [[nodiscard]] device_totals totals() const;  // of the replay itself
  // As the allocator says: the replay's own plus the difference.
  [[nodiscard]] std::uint64_t allocated() const { return now_.allocated + allocated_difference_; }
  // The allocator's latest figure minus the replay's at that time.
  [[nodiscard]] std::int64_t allocated_difference() const;
  [[nodiscard]] std::int64_t reserved_difference() const;
  [[nodiscard]] std::uint64_t mismatches() const { return mismatches_; }
  [[nodiscard]] std::uint64_t reports() const { return reports_; }
  // Frees of blocks that no recorded event had allocated.
  [[nodiscard]] std::uint64_t unknown_frees() const { return unknown_frees_; }

  [[nodiscard]] const moment& peak_allocated() const { return peak_allocated_; }
  // How often it has moved: followers that see events after this one learn so that it moved just
  // before the event at hand.
  [[nodiscard]] std::uint64_t peaks() const { return peaks_; }
  // Its totals are those after the allocation that needed the new segment.
  [[nodiscard]] const moment& peak_reserved() const { return peak_reserved_; }
  [[nodiscard]] const site_table& sites() const { return sites_; }
  [[nodiscard]] const segment_table& segments() const { return segments_; }
  [[nodiscard]] const graph_pools& graphs() const { return graphs_; }
  [[nodiscard]] std::vector<memory_range> blocks_in_use() const;  // pending ones included
  [[nodiscard]] std::size_t live_blocks() const { return blocks_.size(); }
  // A block lives at `address` that has `asked` bytes, rounded as CUDA's pools do it.
  [[nodiscard]] bool is_whole_block(std::uint64_t address, std::uint64_t asked) {
    const auto* const found = blocks_.find(address);
    return found != nullptr && found->bytes >= asked && found->bytes - asked < 512;
  }

 private:
  struct block {
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0;
    site_id site;
    bool pending = false;
  };

  void allocate(const trace::event& head, std::uint64_t address, std::uint64_t requested,
                std::uint64_t bytes, trace::stack_id stack);
  void request_free(std::uint64_t address);
  void complete_free(std::uint64_t address);
  void use(std::uint64_t address, std::uint64_t bytes);
  void observe_allocated();
  void observe_reserved();
  [[nodiscard]] moment here() const;

  address_map<block> blocks_;
  segment_table segments_;
  graph_pools graphs_;
  site_table sites_;
  device_totals now_;  // reserved and unused are the segments'

  std::uint64_t latest_alloc_ = 0;  // address whose block size the next report tells
  bool grown_ = false;              // since the peak was last looked at
  std::uint64_t event_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint64_t allocated_difference_ = 0;  // two's complement
  std::uint64_t reserved_difference_ = 0;
  std::uint64_t reports_ = 0;
  std::uint64_t mismatches_ = 0;
  bool counts_mismatches_ = true;
  std::uint64_t unknown_frees_ = 0;
  moment peak_allocated_;
  std::uint64_t peaks_ = 0;
  moment peak_reserved_;
};

}  // namespace memtrace::replay
