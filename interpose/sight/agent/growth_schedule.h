// SPDX-License-Identifier: Apache-2.0
//
// Decides when a census is worth its time in a program that nobody suspects: never, until memory
// has been seen to grow. Then a few times, ever further apart (growth_watch.h), for 2 % of the time
// at most.
//
//   steps    what each leaves allocated
//   calls    of the model, where there are no steps, and more of them than a step has: an
//   evaluation events   of the allocator, where there are neither: the least of each 256
//
// With several ranks each waits for the slowest, and what memory the others have none of them
// knows: censuses are taken only after numbers of steps that are the same in all of them
// (milestones.h).
//
// Not thread-safe; times are CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <cstdint>

#include "interpose/sight/agent/census_account.h"
#include "interpose/sight/agent/growth_watch.h"
#include "memtrace/trace_format.h"

namespace memtrace::agent {

class growth_schedule {
 public:
  constexpr growth_schedule() noexcept = default;

  // The process began then.
  void begin(std::uint64_t now_ns, bool has_several_ranks) noexcept {
    began_ns_ = now_ns;
    has_several_ranks_ = has_several_ranks;
  }

  // True: due now, with that many bytes allocated. A census that is taken is told to took().
  [[nodiscard]] bool step(std::uint64_t now_ns, std::uint64_t allocated) noexcept;
  // The model is called. Those calls that a step usually consists of do not count.
  [[nodiscard]] bool call(std::uint64_t now_ns, std::uint64_t allocated) noexcept;
  // So many events more, without a step or a call.
  [[nodiscard]] bool events(std::uint64_t more, std::uint64_t now_ns,
                            std::uint64_t allocated) noexcept;

  void took(format::census_reason why, std::uint64_t nanoseconds) noexcept;

 private:
  [[nodiscard]] bool is_due(growth_watch& watch, std::uint64_t now_ns,
                            std::uint64_t allocated) noexcept;
  void end_events() noexcept;

  std::uint64_t began_ns_ = 0;
  bool has_several_ranks_ = false;
  growth_watch steps_;
  growth_watch calls_;   // since the last step
  growth_watch events_;  // since the last step or call
  std::uint64_t call_count_ = 0;
  std::uint64_t usual_calls_ = 0;
  std::uint64_t event_count_ = 0;
  std::uint64_t usual_events_ = 0;
  std::uint64_t window_ = 0;  // began at this many
  std::uint64_t least_ = ~0ull;
  bool is_for_events_ = false;  // the interval that was due last
  census_account account_;
};

}  // namespace memtrace::agent
