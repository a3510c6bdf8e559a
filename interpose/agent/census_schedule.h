// SPDX-License-Identifier: Apache-2.0
//
// Decides when a census is worth its time: early and often enough that growth shows in a short run,
// and for a small share of a long one.
//
//   count     2, 5, 9, 16, 28, 50, 90, …   milestones: ×1.8
//   between   an eighth of the count, 4    fillers: if memory has changed since
//
// Steps, forward calls and events are counted apart. Each kind of moment pays from an account of
// its own, in proportion to the time since the process began: milestones while the account is
// below 2 % of that time, fillers below 0.2 %. The first three are free, and the next five while
// all are below 0.5 s. What is too expensive now stays due. In a long run milestones get rare, and
// fillers are what is left. Steps are counted anew, with half as much for free, when memory begins
// to grow after it did not: what leaks late is seen from its beginning.
//
// Not thread-safe; times are CLOCK_MONOTONIC in nanoseconds, costs those of a thread's CPU.
#pragma once

#include <cstdint>

#include "memtrace/trace_format.h"

namespace memtrace::agent {

class census_schedule {
 public:
  constexpr census_schedule() noexcept = default;

  // The process began then.
  void begin(std::uint64_t now_ns) noexcept { began_ns_ = now_ns; }

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
    std::uint64_t milestone = 2;
  };
  // What steps leave allocated: how often it was more than ever before.
  struct growth {
    std::uint64_t most = 0;
    std::uint64_t rises = 0;  // since the last census
    bool was_quiet = false;   // up to the last census
    std::uint32_t starts = 0;
  };
  struct account {
    std::uint64_t spent_ns = 0;
    std::uint32_t taken = 0;
    std::uint64_t last_ns = 0;    // what the last one cost
    std::uint64_t allocated = 0;  // at the last one
    std::uint64_t free_ns = 500'000'000;
  };

  [[nodiscard]] bool is_due(const pace& now, const account& payer, bool begins_free,
                            std::uint64_t now_ns, std::uint64_t allocated) const noexcept;
  [[nodiscard]] static bool is_free(const account& payer) noexcept;
  [[nodiscard]] bool affords(const account& payer, std::uint64_t now_ns,
                             std::uint64_t per_mille) const noexcept;
  static void pass(pace& passed) noexcept;
  void end_events() noexcept;
  void see_growth(std::uint64_t allocated) noexcept;

  std::uint64_t began_ns_ = 0;
  pace steps_;
  growth growth_;
  pace calls_{.milestone = 4};     // since the last step
  pace events_{.milestone = 256};  // since the last step or call
  std::uint64_t usual_calls_ = 0;
  std::uint64_t usual_events_ = 0;
  account for_steps_;
  account for_intervals_;
  account for_high_water_;
  account for_failures_;
};

}  // namespace memtrace::agent
