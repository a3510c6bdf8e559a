// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <cstdint>

namespace memtrace {

// In nanoseconds; CLOCK_THREAD_CPUTIME_ID for what our own work costs the program, and not what
// others on the machine do meanwhile.
[[nodiscard]] inline std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace memtrace
