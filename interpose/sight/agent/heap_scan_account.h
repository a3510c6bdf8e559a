// SPDX-License-Identifier: Apache-2.0
//
// The cost of one kind of heap scan so far, and its limit: a share of the time since the
// process began, and a little to begin with. None is free whatever it costs.
#pragma once

#include <cstdint>

namespace memtrace::agent {

class heap_scan_account {
 public:
  // Whether so large a share of `elapsed_ns` has been spent at most, if the next one costs what the
  // last one did.
  [[nodiscard]] bool affords(std::uint64_t elapsed_ns, std::uint64_t per_mille) const noexcept {
    return spent_ns_ + last_ns_ <= elapsed_ns / 1000 * per_mille;
  }
  [[nodiscard]] bool is_free() const noexcept {
    return taken_ < often_free && spent_ns_ + last_ns_ <= free_ns_;
  }
  [[nodiscard]] bool has_paid() const noexcept { return taken_ > 0; }
  [[nodiscard]] std::uint32_t taken() const noexcept { return taken_; }

  void pay(std::uint64_t nanoseconds) noexcept {
    spent_ns_ += nanoseconds;
    last_ns_ = nanoseconds;
    ++taken_;
  }
  // As it was at first, but for what the next one will cost.
  void begin_anew() noexcept {
    taken_ = 0;
    free_ns_ = spent_ns_ + free_at_first_ns;
  }

 private:
  static constexpr std::uint32_t often_free = 8;
  static constexpr std::uint64_t free_at_first_ns = 250'000'000;

  std::uint64_t spent_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t free_ns_ = free_at_first_ns;
  std::uint32_t taken_ = 0;
};

}  // namespace memtrace::agent
