// SPDX-License-Identifier: Apache-2.0
//
// Decides when a census is worth its time by a timetable (capability step_census): early and often
// enough that growth shows in a short run, and for a small share of a long one.
//
//   count     2, 5, 9, 16, 28, 50, 90, …   milestones: ×1.8
//   between   an eighth of the count, 4    fillers: if memory has changed since
//
// Steps, forward calls and events are counted apart. Each kind of moment pays from an account of
// its own, in proportion to the time since the process began: milestones while the account is
// below 2 % of that time, fillers below 0.2 %, and eight or 0.25 s of it before that. What is too
// expensive now stays due. In a long run milestones get rare, and fillers are what is left. Steps
// are counted anew when memory begins to grow after it did not: what leaks late is seen from its
// beginning.
//
// With several ranks each waits for the slowest: censuses are taken at the milestones of steps
// alone, which are the same in all of them.
//
// Not thread-safe; times are CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <cstdint>

#include "interpose/sight/agent/census_account.h"
#include "interpose/sight/agent/milestones.h"
#include "memtrace/trace_format.h"

namespace memtrace::agent {

class census_schedule {
 public:
  constexpr census_schedule() noexcept = default;

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
  // More is allocated than ever before, by so much that it is worth knowing.
  [[nodiscard]] bool high_water(std::uint64_t now_ns) const noexcept;
  // An allocation has failed, once more.
  [[nodiscard]] bool out_of_memory(std::uint64_t now_ns) const noexcept;

  void took(format::census_reason why, std::uint64_t allocated, std::uint64_t nanoseconds) noexcept;

 private:
  struct pace {
    std::uint64_t count = 0;
    std::uint64_t last = 0;  // count at the last census
    std::uint64_t milestone = first_milestone;
  };
  // What steps leave allocated: how often it was more than ever before.
  struct growth {
    std::uint64_t most = 0;
    std::uint64_t rises = 0;  // since the last census
    bool was_quiet = false;   // up to the last census
    std::uint32_t starts = 0;
  };
  struct payer {
    census_account account;
    std::uint64_t allocated = 0;  // at the last one
  };

  [[nodiscard]] bool is_due(const pace& now, const payer& from, bool begins_free,
                            std::uint64_t now_ns, std::uint64_t allocated) const noexcept;
  [[nodiscard]] std::uint64_t elapsed(std::uint64_t now_ns) const noexcept;
  static void pass(pace& passed) noexcept;
  void end_events() noexcept;
  void see_growth(std::uint64_t allocated) noexcept;

  std::uint64_t began_ns_ = 0;
  bool has_several_ranks_ = false;
  pace steps_;
  growth growth_;
  pace calls_{.milestone = 4};     // since the last step
  pace events_{.milestone = 256};  // since the last step or call
  std::uint64_t usual_calls_ = 0;
  std::uint64_t usual_events_ = 0;
  payer for_steps_;
  payer for_intervals_;
  payer for_high_water_;
  payer for_failures_;
};

}  // namespace memtrace::agent
