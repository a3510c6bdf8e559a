// SPDX-License-Identifier: Apache-2.0
//
// Stands between a trace with gaps and whoever reads it, so that nobody has to know what a gap is.
// Nobody saw which of the blocks that lived when a gap began were freed in it. Such a block is
// freed, by events that are made here, as soon as something contradicts it:
//   - its memory has another use (a block or a segment that overlaps), or
//   - the allocator says that less is allocated than the blocks are together; the youngest go
//   first.
// The end of a block that came in a gap is not passed on, nor that of a phase that began in one;
// phases that were open when it began end there. The allocator's totals hold throughout.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/trace/reader/records.h"

namespace memtrace::trace {

// The events that were dropped between two recorded ones.
struct gap {
  std::uint64_t events = 0;
  std::uint64_t begin_ns = 0;  // since the start of the trace
  std::uint64_t end_ns = 0;
};

class drop_recovery final : public record_visitor {
 public:
  drop_recovery(record_visitor& to, std::uint64_t start_monotonic_ns)
      : to_(to), start_ns_(start_monotonic_ns) {}

  [[nodiscard]] const std::vector<gap>& gaps() const { return gaps_; }

  void on_info(std::string_view key, std::string_view value) override { to_.on_info(key, value); }
  void on_thread(thread_id thread) override { to_.on_thread(thread); }
  void on_device(const device_facts& facts) override { to_.on_device(facts); }
  void on_report(const report_event& report) override;
  void on_object(object_id id, std::uint64_t address) override { to_.on_object(id, address); }
  void on_source(const source_part& part) override { to_.on_source(part); }
  void on_expectation(const expected_growth& said) override { to_.on_expectation(said); }
#define MEMTRACE_HANDLER(handler, name, type) \
  void handler(const event& head, const type& record) override;
  MEMTRACE_EVENT_HANDLERS(MEMTRACE_HANDLER)
#undef MEMTRACE_HANDLER

 private:
  struct block {
    std::uint64_t bytes = 0;
    std::uint64_t born = 0;  // a number that only grows
    std::uint64_t gaps = 0;  // before it
    bool pending = false;    // its free is requested
    bool reported = false;   // without the allocator's own events
  };
  struct doubtful {
    std::uint64_t address = 0;
    std::uint64_t born = 0;
  };
  struct device_blocks {
    std::map<std::uint64_t, block> live;
    std::uint64_t allocated = 0;     // of those that are not pending
    std::uint64_t latest = 0;        // address of the latest block, whose size its report tells
    std::vector<doubtful> in_doubt;  // ascending birth
    event seen;                      // latest event
  };
  struct open_phase {
    phase_event record;
    std::uint32_t device = 0;
  };

  [[nodiscard]] device_blocks& at(const event& head);
  void add(device_blocks& device, std::uint64_t address, std::uint64_t bytes, bool reported);
  void free_overlapping(device_blocks& device, const event& head, std::uint64_t address,
                        std::uint64_t bytes);
  void tell_free(device_blocks& device, const event& head, std::uint64_t address);
  [[nodiscard]] bool is_known_end(device_blocks& device, const allocator_event& record);
  void begin_doubt(const event& head, const operation_event& record);

  record_visitor& to_;
  std::uint64_t start_ns_;
  std::map<std::uint32_t, device_blocks> devices_;
  std::map<std::uint32_t, std::vector<open_phase>> phases_;  // by thread
  std::uint64_t births_ = 0;
  std::vector<gap> gaps_;
};

}  // namespace memtrace::trace
