// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/address_ranges.h"

#include <sched.h>

namespace memtrace::simulator::untouched {

constinit address_ranges made_zero;

class address_ranges::lock {
 public:
  explicit lock(std::atomic_flag& flag) : flag_(flag) {
    constexpr int patience = 1000;  // looks at a set that nobody holds for longer than microseconds
    for (int i = 0; i < patience && !is_held_; ++i) {
      is_held_ = !flag_.test_and_set(std::memory_order_acquire);
      if (!is_held_) ::sched_yield();
    }
  }
  ~lock() {
    if (is_held_) flag_.clear(std::memory_order_release);
  }
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

  [[nodiscard]] bool is_held() const { return is_held_; }

 private:
  std::atomic_flag& flag_;
  bool is_held_ = false;
};

void address_ranges::add(std::uintptr_t begin, std::uintptr_t end) noexcept {
  const lock held(taken);
  if (!held.is_held()) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (ranges[i].end <= begin || end <= ranges[i].begin) ranges[kept++] = ranges[i];
  }
  count = kept;
  if (count < most) ranges[count++] = {begin, end};
}

bool address_ranges::holds(std::uintptr_t begin, std::uintptr_t end) noexcept {
  const lock held(taken);
  if (!held.is_held()) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (ranges[i].begin <= begin && end <= ranges[i].end) return true;
  }
  return false;
}

}  // namespace memtrace::simulator::untouched
