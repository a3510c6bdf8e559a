// SPDX-License-Identifier: Apache-2.0
//
// The memory that the allocator got from the driver and gave back, and for which allocations: what
// a request log does not say. One cheap look at each event; a few words for each segment.
//
//   failed call ─► segment_free* ─► segment_alloc ─► alloc      one allocation; a retry, since the
//   └──────────── measured time ────────────────────┘           first sign is a refusal
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::fragmentation {

// An allocation that reserved memory, or that ran out of it.
struct reserving_request {
  std::uint64_t event = 0;  // alloc or oom
  std::uint64_t got = 0;    // bytes; 0: nothing, or it ran out of memory
  bool large = false;       // its segments are none of the small pool
  bool out_of_memory = false;
};

// Address space that got memory or lost it.
struct segment_change {
  std::uint64_t event = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool got = false;
};

struct device_history {
  std::vector<reserving_request> reserving;  // by event; the first `most_kept`
  std::vector<segment_change> changes;       // by event; the first `most_kept`
  std::uint64_t reserving_requests = 0;      // also those that are not kept
  bool complete = true;                      // false: more changes than are kept
  std::uint64_t reserved = 0;
  std::size_t segments = 0;  // held now; pages of expandable ones count each
  std::size_t most_segments = 0;
  // After a request: what was got and given back within one does not count.
  std::uint64_t peak_reserved = 0;
  std::uint64_t peak_event = 0;  // alloc or oom after which it was first so high
  fragmentation::pressure pressure;
};

class segment_history final : public trace::record_visitor {
 public:
  explicit segment_history(const trace::dictionary& names) : names_(names) {}

  void on_allocator(const trace::event& head, const trace::allocator_event& record) override;
  void on_operation(const trace::event& head, const trace::operation_event& record) override;
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override;

  // Empty where the allocator did nothing.
  [[nodiscard]] const device_history& device(std::uint32_t index) const;

 private:
  // Inside of an allocation, from its first sign on.
  struct allocation {
    std::uint64_t got = 0;
    bool large = false;
    bool refused = false;
    std::uint64_t began_ns = 0;  // of its first sign, other than what it got
    std::uint64_t freed_segments = 0;
    std::uint64_t freed_bytes = 0;
  };
  struct device_state {
    device_history found;
    allocation now;
    bool touched = false;  // `now` is not empty
  };

  [[nodiscard]] bool is_emptying(trace::thread_id thread) const;
  [[nodiscard]] device_state& at(std::uint32_t device);
  void segment(const trace::event& head, const trace::allocator_event& record);
  static void refuse(device_state& device, const trace::event& head);
  static void finish(device_state& device, const trace::event& head, bool out_of_memory);

  const trace::dictionary& names_;
  std::map<std::uint32_t, device_state> devices_;
  device_state* latest_ = nullptr;
  std::uint32_t latest_index_ = 0;
  std::map<trace::thread_id, bool> emptying_;  // inside of empty_cache
};

}  // namespace memtrace::fragmentation
