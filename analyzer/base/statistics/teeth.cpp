// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/teeth.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace memtrace::growth {
namespace {

// The nth largest (of 1 …), so that single lasting shifts do not decide.
template <class Member>
double nth_largest(const std::vector<window>& windows, std::size_t nth, Member member) {
  std::vector<double> values;
  for (const auto& one : windows) values.push_back(one.*member);
  if (values.size() < nth) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(nth - 1);
  std::nth_element(values.begin(), at, values.end(), std::greater<>());
  return *at;
}

}  // namespace

sawtooth find_teeth(const stretch& steps, double least) {
  const auto& windows = steps.windows;
  const double fall = nth_largest(windows, 2, &window::largest_fall);
  const double rise = nth_largest(windows, 2, &window::largest_rise);
  if (fall <= least || fall < 2 * rise) return {};
  std::vector<std::size_t> falls;
  double refilled = 0;  // risen since the first of the falls
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].largest_fall >= fall / 2) falls.push_back(i);
    if (!falls.empty()) refilled += windows[i].up;
  }
  if (refilled < fall / 2 * static_cast<double>(falls.size() - 1)) return {};
  sawtooth found{.teeth = falls.size(), .fall_bytes = fall, .floors = {}, .levels = {}};
  for (std::size_t k = 0; k < falls.size(); ++k) {
    const auto end = k + 1 < falls.size() ? falls[k + 1] : windows.size();
    auto lowest = falls[k];
    double sum = 0, count = 0;
    for (auto i = falls[k]; i < end; ++i) {
      sum += windows[i].sum;
      count += windows[i].steps;
      if (windows[i].floor < windows[lowest].floor) lowest = i;
    }
    found.floors.push_back({steps.first_step + (static_cast<double>(lowest) + 0.5) * steps.width,
                            windows[lowest].floor});
    // The last tooth is cut short: its average is not like the others'.
    if (k + 1 == falls.size() && falls.size() > 4) continue;
    found.levels.push_back(
        {steps.first_step + static_cast<double>(falls[k] + end) / 2 * steps.width, sum / count});
  }
  return found;
}

bool has_emptied_once(const stretch& steps, double least) {
  constexpr double nearly_all = 0.6;  // the warm-up has its part of the rise
  constexpr double same_floor = 0.1;
  constexpr double fewest_rises = 4;
  const auto& windows = steps.windows;
  if (windows.empty()) return false;
  std::size_t at = 0;
  double before = 0, floor = windows.front().floor, largest_rise = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].largest_fall > windows[at].largest_fall) at = i;
    floor = std::min(floor, windows[i].floor);
    largest_rise = std::max(largest_rise, windows[i].largest_rise);
  }
  const double fall = windows[at].largest_fall;
  for (std::size_t i = 0; i < at; ++i) before += windows[i].up - windows[i].down;
  double after = 0;
  for (auto i = at + 1; i < windows.size(); ++i) after += windows[i].up - windows[i].down;
  return fall > least && fewest_rises * largest_rise <= fall && before >= nearly_all * fall &&
         windows[at].floor - floor <= same_floor * fall && after > 0 && after <= 1.1 * fall;
}

}  // namespace memtrace::growth
