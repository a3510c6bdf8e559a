// SPDX-License-Identifier: Apache-2.0
//
// The recorder's lock: one word, one atomic instruction to take it when nobody else wants it.
// Not a pthread mutex, because it must be possible to give up waiting for it while the process
// exits, and to forget its state in a forked child.
//
// Unlocking is a plain store: a waiter that goes to sleep at that very moment may miss it, so
// nobody sleeps longer than a millisecond.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/ground/base/futex.h"

namespace memtrace {

class small_lock {
 public:
  void lock() noexcept {
    std::uint32_t expected = 0;
    if (!held_.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      (void)lock_slowly(~0u);
    }
  }

  // False when the lock was not to be had in time.
  [[nodiscard]] bool try_lock_for(std::uint32_t milliseconds) noexcept {
    std::uint32_t expected = 0;
    return held_.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                         std::memory_order_relaxed) ||
           lock_slowly(milliseconds);
  }

  void unlock() noexcept {
    held_.store(0, std::memory_order_release);
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      futex_wake_one(held_);
  }

 private:
  [[nodiscard]] bool lock_slowly(std::uint32_t milliseconds) noexcept;

  std::atomic<std::uint32_t> held_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

class [[nodiscard]] lock_holder {
 public:
  explicit lock_holder(small_lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~lock_holder() { lock_.unlock(); }
  lock_holder(const lock_holder&) = delete;
  lock_holder& operator=(const lock_holder&) = delete;

 private:
  small_lock& lock_;
};

}  // namespace memtrace
