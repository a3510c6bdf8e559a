// SPDX-License-Identifier: Apache-2.0
//
// A set of ranges of addresses that allocates nothing: an allocation of ours would move the
// program's own, on whose addresses the order of its frees may depend.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memtrace::simulator::untouched {

class address_ranges {
 public:
  // In place of those that it overlaps. Where there is no room, or others hold the set for long (a
  // thread that a fork left behind), it is left out.
  void add(std::uintptr_t begin, std::uintptr_t end) noexcept;

  // Whether one range holds all of that. False also where others hold the set for long.
  [[nodiscard]] bool holds(std::uintptr_t begin, std::uintptr_t end) noexcept;

 private:
  struct range {
    std::uintptr_t begin, end;
  };
  class lock;

  static constexpr std::size_t most = 1 << 16;  // parameters of a model: some hundreds or thousands
  std::atomic_flag taken = ATOMIC_FLAG_INIT;
  std::size_t count = 0;
  std::array<range, most> ranges{};
};

// What make_zero made.
extern address_ranges made_zero;

}  // namespace memtrace::simulator::untouched
