// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/series.h"

#include <cmath>

namespace memtrace::growth {
namespace {

// The value, or the nearer neighbour if the value stands out from both of them by more than twice
// what they differ.
double without_spike(double before, double value, double after) {
  const bool above = value > std::max(before, after), below = value < std::min(before, after);
  if (!above && !below) return value;
  const double nearer = above ? std::max(before, after) : std::min(before, after);
  return std::abs(value - nearer) > 2 * std::abs(before - after) ? nearer : value;
}

void append(window& to, const window& later) {
  if (to.steps == 0) {
    to = later;
    return;
  }
  to.floor = std::min(to.floor, later.floor);
  to.top = std::max(to.top, later.top);
  to.sum += later.sum;
  to.up += later.up;
  to.down += later.down;
  to.largest_rise = std::max(to.largest_rise, later.largest_rise);
  to.largest_fall = std::max(to.largest_fall, later.largest_fall);
  to.steps += later.steps;
  to.rises += later.rises;
}

}  // namespace

void series::add(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (steps_ == 0) first_ = value;
  if (steps_ >= 2) add_filtered(without_spike(before_last_, last_, value));
  before_last_ = last_;
  last_ = value;
  ++steps_;
}

void series::add(std::uint64_t bytes, std::uint64_t times) {
  const auto value = static_cast<double>(bytes);
  for (; times != 0; --times) {
    const bool constant = steps_ > 2 && before_last_ == value && last_ == value;
    if (constant && last_filtered_ == value) break;
    add(bytes);
  }
  steps_ += times;
  add_unchanged(times);
}

// Repeats the value that has passed the filter last.
void series::add_unchanged(std::uint64_t times) {
  while (times != 0) {
    if (windows_.back().steps == width_) {
      if (windows_.size() == max_windows_) {
        halve();
        continue;
      }
      windows_.push_back({.floor = last_filtered_, .top = last_filtered_});
    }
    auto& open = windows_.back();
    const auto more = std::min(times, width_ - open.steps);
    open.floor = std::min(open.floor, last_filtered_);
    open.top = std::max(open.top, last_filtered_);
    open.sum += last_filtered_ * static_cast<double>(more);
    open.steps += static_cast<std::uint32_t>(more);
    times -= more;
  }
}

void series::add_filtered(double bytes) {
  const double change = windows_.empty() ? 0 : bytes - last_filtered_;
  last_filtered_ = bytes;
  window one{.floor = bytes, .top = bytes, .sum = bytes};
  one.up = one.largest_rise = std::max(change, 0.0);
  one.down = one.largest_fall = std::max(-change, 0.0);
  one.steps = 1;
  one.rises = change > 0 ? 1 : 0;
  if (!windows_.empty() && windows_.back().steps < width_) {
    append(windows_.back(), one);
    return;
  }
  if (windows_.size() == max_windows_)
    halve();  // an even number of full windows becomes half of it
  if (!windows_.empty() && windows_.back().steps < width_) {
    append(windows_.back(), one);
  } else {
    windows_.push_back(one);
  }
}

void series::halve() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < windows_.size(); i += 2) {
    window merged = windows_[i];
    if (i + 1 < windows_.size()) append(merged, windows_[i + 1]);
    windows_[kept++] = merged;
  }
  windows_.resize(kept);
  width_ *= 2;
}

}  // namespace memtrace::growth
