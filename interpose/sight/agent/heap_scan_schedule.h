// SPDX-License-Identifier: Apache-2.0
//
// Decides when a heap scan is worth its time, in one of two ways.
//
// By growth: never, until memory has been seen to grow. Then a few times, ever further apart
// (growth_watch.h), for 2 % of the time at most.
//
//   steps    what each leaves allocated
//   calls    of the model, where there are no steps, and more of them than a step has: an
//            evaluation
//   events   of the allocator, where there are neither: the least of each 256
//
// By a timetable (capability step_census): early and often enough that growth shows in a short run,
// and for a small share of a long one.
//
//   count     2, 5, 9, 16, 28, 50, 90, …   milestones: ×1.8
//   between   an eighth of the count, 4    fillers: if memory has changed since
//
// Each kind of moment of the timetable pays from an account of its own, in proportion to the time
// since the process began: milestones while the account is below 2 % of that time, fillers below
// 0.2 %, and eight or 0.25 s of it before that. What is too expensive now stays due. In a long run
// milestones get rare, and fillers are what is left. Steps are counted anew when memory begins to
// grow after it did not: what leaks late is seen from its beginning.
//
// Steps, forward calls and events are counted apart in both. With several ranks each waits for the
// slowest, and what memory the others have none of them knows: heap scans are taken only after
// numbers of steps that are the same in all of them.
//
// Not thread-safe; times are CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "interpose/sight/agent/growth_watch.h"
#include "interpose/sight/agent/heap_scan_account.h"
#include "memtrace/trace_format.h"

namespace memtrace::agent {

// 2, 5, 9, 16, 28, 50, 90, …
inline constexpr std::uint64_t first_milestone = 2;
[[nodiscard]] constexpr std::uint64_t milestone_after(std::uint64_t milestone) noexcept {
  return std::max(milestone + 3, milestone * 9 / 5);
}
[[nodiscard]] constexpr bool is_milestone(std::uint64_t count) noexcept {
  std::uint64_t milestone = first_milestone;
  while (milestone < count) milestone = milestone_after(milestone);
  return milestone == count;
}

// A count of each step takes the place of `usual`; one that is much larger is an
// episode of its own, an evaluation for example.
constexpr void learn_usual(std::uint64_t& usual, std::uint64_t count) noexcept {
  if (usual == 0 || count <= 4 * usual + 4) usual = count;
}

class heap_scan_schedule {
 public:
  constexpr heap_scan_schedule() noexcept = default;

  // The process began then.
  void begin(std::uint64_t now_ns, bool has_several_ranks, bool has_timetable) noexcept {
    began_ns_ = now_ns;
    has_several_ranks_ = has_several_ranks;
    has_timetable_ = has_timetable;
  }
  [[nodiscard]] bool has_timetable() const noexcept { return has_timetable_; }

  // True: due now, with that many bytes allocated. A heap scan that is taken is told to took().
  [[nodiscard]] bool step(std::uint64_t now_ns, std::uint64_t allocated) noexcept;
  // The model is called. Those calls that a step usually consists of do not count.
  [[nodiscard]] bool call(std::uint64_t now_ns, std::uint64_t allocated) noexcept;
  // So many events more, without a step or a call.
  [[nodiscard]] bool events(std::uint64_t more, std::uint64_t now_ns,
                            std::uint64_t allocated) noexcept;
  // More is allocated than ever before, by so much that it is worth knowing.
  [[nodiscard]] bool high_water(std::uint64_t now_ns) const noexcept;
  // An allocation has failed, once more.
  [[nodiscard]] bool out_of_memory(std::uint64_t now_ns) const noexcept;

  void took(format::census_reason why, std::uint64_t allocated, std::uint64_t nanoseconds) noexcept;

 private:
  // Something that comes several times in a step, counted since the last one.
  struct episode {
    std::uint64_t count = 0;
    std::uint64_t usual = 0;  // of a step
    void end() noexcept {
      learn_usual(usual, count);
      count = 0;
    }
  };
  struct pace {
    std::uint64_t last = 0;  // count at the last heap scan
    std::uint64_t milestone = first_milestone;
    void pass(std::uint64_t count) noexcept;
  };
  struct payer {
    heap_scan_account account;
    std::uint64_t allocated = 0;  // at the last one
  };
  struct timetable {
    std::uint64_t step_count = 0;
    pace steps;
    pace calls{.milestone = 4};     // since the last step
    pace events{.milestone = 256};  // since the last step or call
    payer for_steps;
    payer for_intervals;
    // How often the memory that steps leave allocated was more than ever before.
    std::uint64_t most = 0;
    std::uint64_t rises = 0;  // since the last heap scan
    bool was_quiet = false;   // up to the last heap scan
    std::uint32_t starts = 0;
  };
  struct growth {
    growth_watch steps;
    growth_watch calls;        // since the last step
    growth_watch events;       // since the last step or call
    std::uint64_t window = 0;  // began at this many events
    std::uint64_t least = ~0ull;
    bool is_for_events = false;  // the interval that was due last
    heap_scan_account account;
  };

  [[nodiscard]] bool is_due(std::uint64_t count, const pace& now, const payer& from,
                            bool begins_free, std::uint64_t now_ns,
                            std::uint64_t allocated) const noexcept;
  [[nodiscard]] bool is_interval_due(std::uint64_t count, pace& now, bool begins_free,
                                     std::uint64_t now_ns, std::uint64_t allocated) noexcept;
  [[nodiscard]] bool is_due(growth_watch& watch, std::uint64_t now_ns,
                            std::uint64_t allocated) noexcept;
  [[nodiscard]] std::uint64_t elapsed(std::uint64_t now_ns) const noexcept;
  void end_events() noexcept;
  void see_rise(std::uint64_t allocated) noexcept;
  void took_by_timetable(bool step, std::uint64_t allocated, std::uint64_t nanoseconds) noexcept;
  void took_by_growth(bool step, std::uint64_t nanoseconds) noexcept;

  std::uint64_t began_ns_ = 0;
  bool has_several_ranks_ = false;
  bool has_timetable_ = false;
  episode calls_;   // since the last step
  episode events_;  // since the last step or call
  timetable timetable_;
  growth growth_;
  heap_scan_account for_high_water_;
  heap_scan_account for_failures_;
};

}  // namespace memtrace::agent
