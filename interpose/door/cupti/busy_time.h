// SPDX-License-Identifier: Apache-2.0
//
// Time in which at least one of several overlapping intervals ran, as they come: nearly in order of
// time, but not quite, since streams run side by side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace memtrace::cupti {

class busy_time {
 public:
  void add(std::uint64_t start, std::uint64_t end) noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  struct interval {
    std::uint64_t start;
    std::uint64_t end;
  };
  void insert(std::size_t position, std::size_t last_merged, const interval& one) noexcept;
  void forget_oldest() noexcept;

  // The latest ones, disjoint and in order. What comes later than that many others is counted only
  // as far as it lies after what has been forgotten.
  static constexpr std::size_t kept = 512;
  std::array<interval, kept> latest_{};
  std::size_t count_ = 0;
  std::uint64_t forgotten_until_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace memtrace::cupti
