// SPDX-License-Identifier: Apache-2.0
//
// Writes what a profiler's trace says of memory as records: those that the recorder writes where it
// hears of the allocator's reports alone (reported_alloc, reported_free), since that is what the
// profiler hears, too. Blocks that are freed without having been allocated were there before.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/model/snapshot/profiler_contents.h"
#include "analyzer/trace/reader/record_writer.h"

namespace memtrace::snapshot {

class profiler_maker {
 public:
  profiler_maker(profiler_contents& from, trace::output& to);

  // False: the trace could not be written.
  [[nodiscard]] bool make();

 private:
  struct device_start {
    std::uint64_t allocated = 0;
    std::uint64_t reserved = 0;          // right after its first event
    std::vector<profiler_event> blocks;  // freed later, as allocations
  };
  struct moment {  // of a mark
    std::uint64_t time_ns = 0;
    std::uint32_t mark = 0;
    bool begins = false;
  };

  void find_starts();
  void write_head();
  void write_starts();
  void write_events();
  void write(const profiler_event& event, std::uint64_t time_us);
  void write(const moment& when);
  [[nodiscard]] std::vector<moment> moments() const;
  [[nodiscard]] trace::thread_id thread_of(std::uint32_t number) const;
  [[nodiscard]] std::uint64_t time_us(std::uint64_t time_ns) const;

  profiler_contents& from_;
  std::uint64_t start_ns_;
  trace::record_writer to_;
  std::map<std::uint32_t, device_start> devices_;
  std::vector<trace::thread_id> threads_;  // by number
  std::map<std::string, trace::text_id> optimizers_;
  std::uint64_t contradictions_ = 0;
  bool has_steps_ = false;  // the profiler's own
  bool has_backward_ = false;
};

}  // namespace memtrace::snapshot
