// SPDX-License-Identifier: Apache-2.0
//
// The clock of the events: the processor's time-stamp counter where it is known to tick at one
// rate on all cores (8 ns a read instead of 40), else CLOCK_MONOTONIC. Its rate is measured
// against CLOCK_MONOTONIC from when the library was loaded to the first event; every block of the
// trace carries both clocks, so a reader can refine it.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace memtrace {

[[nodiscard]] std::uint64_t monotonic_ns() noexcept;
[[nodiscard]] std::uint64_t realtime_ns() noexcept;

// The two clocks at one moment.
struct clock_pair {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
};

class tick_clock {
 public:
  using source = std::uint64_t (*)();

  // A clock for tests, or one of nanoseconds.
  tick_clock(source read, double rate_ns, std::uint32_t unit_shift) noexcept
      : source_(read), ns_per_tick_(rate_ns), shift_(unit_shift) {}

  // Both clocks now: to be kept until calibrate(). Costs a dozen clock reads.
  [[nodiscard]] static clock_pair sample() noexcept;
  // The best clock there is, given a sample from earlier in this process.
  [[nodiscard]] static tick_clock calibrate(const clock_pair& earlier) noexcept;

  [[nodiscard]] std::uint64_t ticks() const noexcept {
#if defined(__x86_64__)
    if (source_ == nullptr) return __rdtsc();
#endif
    return source_();
  }

  [[nodiscard]] double ns_per_tick() const noexcept {
    return ns_per_tick_;
  }
  // Times are recorded in units of 1 << shift() ticks.
  [[nodiscard]] std::uint32_t shift() const noexcept {
    return shift_;
  }

 private:
  source source_;  // null: the time-stamp counter
  double ns_per_tick_;
  std::uint32_t shift_;
};

}  // namespace memtrace
