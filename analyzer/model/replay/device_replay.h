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
// The allocator counts what is asleep (residency.h) as before; here it is in no sum but `asleep`.
// Cost: O(1) an event but for the search of a segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyzer/model/replay/address_map.h"
#include "analyzer/model/replay/graph_pools.h"
#include "analyzer/model/replay/residency.h"
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
  std::uint64_t graph_pools = 0;  // in no block, but replays of CUDA graphs need it (graph_pools.h)
  // Not in the above: nothing is behind these addresses at the moment.
  std::uint64_t asleep = 0;           // of blocks in use
  std::uint64_t asleep_reserved = 0;  // of segments

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

// What slept in the course of a run, and how things are now.
struct sleep_facts {
  std::uint64_t most = 0;   // bytes of blocks
  std::uint64_t event = 0;  // when it was first so much
  std::uint64_t time_ns = 0;
  std::uint64_t times = 0;  // that memory fell asleep after some, or none, was awake
  std::uint64_t now = 0;
  bool fell_last = false;  // rather than woke up
};

class device_replay {
 public:
  void on_allocator(const trace::event& head, const trace::allocator_event& record);
  void on_operation(const trace::event& head, const trace::operation_event& record);
  void on_report(const trace::report_event& report);
  void on_reported(const trace::event& head, const trace::reported_event& record);
  // Physical memory was taken away or is there again. Returns whether anything of PyTorch's is
  // concerned.
  bool on_backing(const trace::event& head, const backing_change& what);
  [[nodiscard]] bool concerns(const backing_change& what);
  // By the latest record.
  [[nodiscard]] const std::vector<sleep_change>& sleep_changes() const { return sleep_changes_; }
  [[nodiscard]] const sleep_facts& sleep() const { return sleep_; }
  // Blocks that were asleep when most was, by who asked for them: bytes asleep.
  [[nodiscard]] std::vector<site_holding> most_asleep() const { return sleepers_.at_peak(); }
  [[nodiscard]] std::uint64_t asleep_in(std::uint64_t address, std::uint64_t bytes) const {
    return asleep_.empty() ? 0 : asleep_.bytes_in({address, address + bytes});
  }
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
  // A block lives at `address` that was asked for with so many bytes.
  [[nodiscard]] bool is_block_of(std::uint64_t address, std::uint64_t asked) {
    const auto* const found = blocks_.find(address);
    return found != nullptr && found->bytes == least_block(asked);
  }

 private:
  struct block {
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0;
    site_id site;
    bool pending = false;
    std::uint64_t asleep = 0;
    [[nodiscard]] std::uint64_t resident() const { return bytes - asleep; }
    [[nodiscard]] std::uint64_t resident_requested() const {
      return requested - std::min(requested, asleep);
    }
  };

  void allocate(const trace::event& head, std::uint64_t address, std::uint64_t requested,
                std::uint64_t bytes, trace::stack_id stack);
  void request_free(std::uint64_t address);
  void complete_free(std::uint64_t address);
  void use(std::uint64_t address, std::uint64_t bytes);
  void observe_allocated();
  void observe_reserved();
  void set_backing(const backing_change& what);
  // Nothing is asleep there any more, whatever the calls said: the segments come or go.
  void forget_sleep(std::uint64_t address, std::uint64_t bytes);
  void set_asleep(std::uint64_t address, block& of, std::uint64_t bytes);
  void note_sleep();
  // Calls `visit(address, block)` for each block that overlaps the range.
  template <typename Visit>
  void for_each_block_in(address_range where, Visit visit);
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

  asleep_ranges asleep_;
  std::vector<sleep_change> sleep_changes_;
  sleep_facts sleep_;
  site_table sleepers_;
  std::vector<std::uint64_t> in_order_;  // addresses of the blocks
  bool is_in_order_ = false;             // no block came or went since
  std::uint64_t sleep_work_ = 0;  // blocks sorted and visited for calls that take memory away
};

}  // namespace memtrace::replay
