// SPDX-License-Identifier: Apache-2.0
//
// Waiting for a 32-bit word to change, by the kernel's futex: no allocation, usable at any time,
// within one process. Returns early at will: callers check their condition again.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace memtrace {

inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t while_equal,
                       std::uint32_t milliseconds) noexcept {
  const timespec limit{milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1000000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, while_equal, &limit, nullptr, 0);
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

inline void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace memtrace
