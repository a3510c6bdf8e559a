// SPDX-License-Identifier: Apache-2.0
//
// Decides, from no more than what is allocated at the end of each step, whether memory grows, and
// then when to look what keeps it: several times, ever further apart, so that it can be seen what
// grows; then no more.
//
//   allocated at each step   5 9 9 9 10 9 11 9 12 9 12 9 13 …    growth: three new maxima
//   look                                       x        x
//
// The first two steps of a program are no growth. When it has been quiet for much longer
// than between two of its maxima, or half of the memory has gone, what comes is something else, and
// may be looked at anew.
#pragma once

#include <algorithm>
#include <cstdint>

namespace memtrace::agent {

class growth_watch {
 public:
  // One more step has left so much. True: it is a new maximum of what grows.
  [[nodiscard]] bool grows(std::uint64_t allocated) noexcept {
    ++count_;
    if (count_ <= first_steps) {
      most_ = std::max(most_, allocated);
      return false;
    }
    if (allocated < most_ / 2) begin_anew(allocated);
    if (allocated <= most_) return false;
    most_ = allocated;
    see_maximum();
    return has_grown();
  }
  // After grows(): it is time.
  [[nodiscard]] bool has_grown() const noexcept { return maxima_ >= few_maxima; }
  [[nodiscard]] bool is_due() const noexcept { return count_ >= next_ && may_look(); }
  [[nodiscard]] bool may_look() const noexcept {
    return looks_ < looks_at_once && all_ < most_looks;
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  void looked() noexcept {
    ++looks_;
    ++all_;
    next_ = count_ + std::max(least_pause, (count_ - began_ + 1) * 4 / 5);
  }
  // Another episode begins, whose first two steps count as such.
  void restart() noexcept {
    count_ = most_ = 0;
    begin_anew(0);
  }

 private:
  static constexpr std::uint64_t first_steps = 2;
  static constexpr std::uint32_t few_maxima = 3;
  static constexpr std::uint64_t least_pause = 2;
  static constexpr std::uint32_t looks_at_once = 8;
  static constexpr std::uint32_t most_looks = 32;
  static constexpr std::uint64_t quiet_steps = 16;

  void begin_anew(std::uint64_t allocated) noexcept {
    most_ = allocated;
    maxima_ = looks_ = 0;
    longest_gap_ = 0;
    next_ = 0;
  }

  void see_maximum() noexcept {
    const std::uint64_t gap = count_ - latest_;
    if (maxima_ > 1 && gap > std::max(quiet_steps, 4 * longest_gap_)) begin_anew(most_);
    if (maxima_++ == 0) {
      began_ = count_;
    } else {
      longest_gap_ = std::max(longest_gap_, gap);
    }
    latest_ = count_;
  }

  std::uint64_t count_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t began_ = 0;        // the first maximum
  std::uint64_t latest_ = 0;       // the latest
  std::uint64_t longest_gap_ = 0;  // between two
  std::uint32_t maxima_ = 0;
  std::uint64_t next_ = 0;   // look
  std::uint32_t looks_ = 0;  // at this growth
  std::uint32_t all_ = 0;
};

}  // namespace memtrace::agent
