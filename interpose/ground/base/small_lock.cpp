// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/small_lock.h"

namespace memtrace {
namespace {

// An event holds the lock for some 20 ns: spinning that long beats a system call.
constexpr int spins_before_sleep = 100;
constexpr std::uint32_t sleep_ms = 1;

void pause_briefly() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

bool small_lock::lock_slowly(std::uint32_t milliseconds) noexcept {
  const bool forever = milliseconds == ~0u;
  for (int spins = 0;; ++spins) {
    std::uint32_t expected = 0;
    if (held_.load(std::memory_order_relaxed) == 0 &&
        held_.compare_exchange_weak(expected, 1, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return true;
    }
    if (spins < spins_before_sleep) {
      pause_briefly();
      continue;
    }
    if (!forever && milliseconds-- == 0) return false;
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    futex_wait(held_, 1, sleep_ms);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace memtrace
