// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/small_lock.h"

#include <algorithm>

namespace memtrace {
namespace {

// An event holds the lock for some 20 ns: spinning that long beats a system call.
constexpr int spins_before_sleep = 100;
constexpr std::uint32_t longest_sleep_ms = 100;

void pause_briefly() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

bool small_lock::lock_slowly(std::uint32_t milliseconds) noexcept {
  for (int i = 0; i < spins_before_sleep; ++i) {
    std::uint32_t expected = 0;
    if (state_.load(std::memory_order_relaxed) == 0 &&
        state_.compare_exchange_weak(expected, 1, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return true;
    }
    pause_briefly();
  }
  const bool forever = milliseconds == ~0u;
  while (state_.exchange(2, std::memory_order_acquire) != 0) {
    if (!forever && milliseconds == 0) return false;
    const std::uint32_t sleep = forever ? longest_sleep_ms : std::min(milliseconds, 10u);
    futex_wait(state_, 2, sleep);
    if (!forever) milliseconds -= sleep;
  }
  return true;
}

}  // namespace memtrace
