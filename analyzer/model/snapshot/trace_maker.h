// SPDX-License-Identifier: Apache-2.0
//
// Writes the contents of a snapshot as records. What PyTorch's events do not say follows from the
// others and from the segments at the end: the size of each block, the pool of what was allocated
// in a segment, the totals. Where the frames say that autograd runs, the event is given a thread of
// its name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/model/allocator/settings.h"
#include "analyzer/model/snapshot/contents.h"
#include "analyzer/model/snapshot/device_heap.h"
#include "analyzer/model/snapshot/names.h"
#include "analyzer/model/snapshot/start_of_history.h"
#include "analyzer/trace/reader/record_writer.h"

namespace memtrace::snapshot {

class trace_maker {
 public:
  trace_maker(contents& from, trace::output& to);

  // False: the log could not be read, or the trace not written.
  [[nodiscard]] bool make();

 private:
  struct device_state {
    std::uint32_t number = 0;
    start_of_history start;
    device_heap heap;
    std::unique_ptr<event_log::reader> rows;
    const event_row* next = nullptr;
    // By address of the segments at the end, to find the pool of what is in them.
    std::vector<const segment*> segments;
    trace::pool_id pool;  // that its latest allocation went to
  };

  void collect_devices();
  void write_head();
  void write_start(device_state& device);
  void write_held(device_state& device, const held_segment& one);
  void write_held(device_state& device, const held_block& one);
  void write_events();
  void write(device_state& device, const event_row& row, std::uint64_t time_us);
  void write_mark(const mark& one);
  void follow_pool(device_state& device, std::uint64_t time_us, trace::thread_id thread,
                   const trace::pool_id& pool);
  void write_block_events(device_state& device, const event_row& row, std::uint64_t time_us,
                          trace::allocator_event& event);
  void report(const device_state& device, std::uint64_t address, std::int64_t bytes);
  [[nodiscard]] bool agrees_at_end() const;
  [[nodiscard]] std::uint64_t time_of(const device_state& device) const;
  [[nodiscard]] trace::pool_id pool_of(const device_state& device, const event_row& row) const;

  contents& from_;
  allocator::settings settings_;
  trace::record_writer to_;
  trace_names names_;
  std::vector<device_state> devices_;
  std::uint64_t start_us_ = 0;
  std::uint64_t events_ = 0;         // written, where there are no times
  std::uint64_t held_at_start_ = 0;  // bytes allocated when the histories begin
};

}  // namespace memtrace::snapshot
