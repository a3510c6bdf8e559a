// SPDX-License-Identifier: Apache-2.0
//
// A series of any length in bounded memory: exact up to `max_windows` steps, then windows of equal
// length, twice as long each time they would become too many. One addition costs O(1), amortised.
//
// Every value passes a filter of three first: a step that stands out alone, up or down, becomes its
// nearer neighbour (the running median of Tukey, 1977, but only where the neighbours agree, so that
// ramps, lasting jumps and short sawteeth pass unchanged). It delays by one step, so the first and
// the last value count only as neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace::growth {

// The sums that stand for consecutive steps. Bytes are doubles: exact up to 8 PiB.
struct window {
  double floor = 0;         // the least value
  double top = 0;           // the greatest value
  double sum = 0;           // of the values
  double up = 0, down = 0;  // sums of the rises and of the falls, step to step
  double largest_rise = 0, largest_fall = 0;
  std::uint32_t steps = 0, rises = 0;

  [[nodiscard]] double level() const { return sum / std::max(1U, steps); }
};

class series {
 public:
  // At most this many windows, and never less than half as many once it is full.
  explicit series(std::size_t max_windows = 512)
      : max_windows_(std::max<std::size_t>(64, max_windows + max_windows % 2)) {}

  void add(std::uint64_t bytes);
  // As if added so many times, in O(windows) at most; exactly so as long as the sum of a window is
  // exact in a double (blocks of 512 bytes: up to 4 EiB).
  void add(std::uint64_t bytes, std::uint64_t times);

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // Steps that each window but the last stands for.
  [[nodiscard]] std::uint64_t width() const { return width_; }
  // Oldest first; the last one may be shorter. The first window begins at step 1 (of 0 …).
  [[nodiscard]] const std::vector<window>& windows() const { return windows_; }
  [[nodiscard]] double first_bytes() const { return first_; }

 private:
  void add_filtered(double bytes);
  void add_unchanged(std::uint64_t times);
  void halve();

  std::size_t max_windows_;
  std::uint64_t steps_ = 0, width_ = 1;
  double first_ = 0, before_last_ = 0, last_ = 0, last_filtered_ = 0;
  std::vector<window> windows_;
};

}  // namespace memtrace::growth
