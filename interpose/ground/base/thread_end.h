// SPDX-License-Identifier: Apache-2.0
//
// A value of each thread that is handed to a function when the thread ends. As found_once.h: no
// guard that a fork could leave locked.
#pragma once

#include <pthread.h>

#include <atomic>

namespace memtrace {

class thread_end {
 public:
  using function = void (*)(void*);
  explicit constexpr thread_end(function at_end) noexcept : at_end_(at_end) {}

  // Whether threads can have one.
  [[nodiscard]] bool is_possible() noexcept { return key() != none; }
  // False without memory, or where there is no key left.
  [[nodiscard]] bool set(void* value) noexcept {
    const long known = key();
    return known != none && pthread_setspecific(static_cast<pthread_key_t>(known), value) == 0;
  }

 private:
  static constexpr long none = -1;

  [[nodiscard]] long key() noexcept {
    const long known = key_.load(std::memory_order_acquire);
    return known != none ? known : make();
  }

  [[gnu::noinline]] long make() noexcept {
    pthread_key_t made{};
    if (pthread_key_create(&made, at_end_) != 0) return none;
    long known = none;
    if (key_.compare_exchange_strong(known, static_cast<long>(made), std::memory_order_acq_rel)) {
      return static_cast<long>(made);
    }
    pthread_key_delete(made);
    return known;
  }

  const function at_end_;
  std::atomic<long> key_{none};
};

}  // namespace memtrace
