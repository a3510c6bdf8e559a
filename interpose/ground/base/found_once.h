// SPDX-License-Identifier: Apache-2.0
//
// A value that is found out when it is first asked for, as a function-local static would be, but
// without the guard of one: a thread that forks while another is finding it out leaves nothing
// locked in the child. Several threads may find it out at once, and must come to the same.
#pragma once

#include <atomic>
#include <new>

namespace memtrace {

template <typename T, T (*find)() noexcept>
class found_once {
 public:
  constexpr found_once() noexcept = default;

  // T{} without memory.
  [[nodiscard]] const T& get() noexcept {
    const T* const known = known_.load(std::memory_order_acquire);
    return known != nullptr ? *known : find_out();
  }

 private:
  [[gnu::noinline]] const T& find_out() noexcept {
    const T* const made = new (std::nothrow) T(find());
    if (made == nullptr) return nothing;
    const T* known = nullptr;
    if (known_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return *made;
    delete made;
    return *known;
  }

  static constexpr T nothing{};
  std::atomic<const T*> known_{nullptr};
};

}  // namespace memtrace
