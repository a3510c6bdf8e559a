// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/shifts.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace memtrace::growth {
namespace {

constexpr std::size_t most_shifts = 2;
constexpr double dominance = 8;

double largest_change(const window& one) {
  return std::max(one.largest_rise, one.largest_fall);
}

// From window `at` on as if the change in it had not been. Inside that window the two sides cannot
// be told apart: it repeats its neighbour.
void take_out(stretch& steps, std::size_t at, double change) {
  auto& windows = steps.windows;
  for (auto i = at; i < windows.size(); ++i) {
    auto& one = windows[i];
    one.floor -= change;
    one.top -= change;
    one.sum -= change * one.steps;
  }
  auto& mixed = windows[at];
  (change > 0 ? mixed.up : mixed.down) -= std::abs(change);
  mixed.rises -= change > 0 ? 1 : 0;
  mixed.largest_rise = mixed.largest_fall = 0;
  if (mixed.steps == 1 || windows.size() < 2) return;
  const auto& neighbour = at > 0 ? windows[at - 1] : windows[at + 1];
  mixed.floor = neighbour.floor;
  mixed.top = neighbour.top;
  mixed.sum = neighbour.level() * mixed.steps;
}

// Two falls with as much of a rise between them: a buffer that is emptied.
[[nodiscard]] bool refills(const std::vector<window>& windows, double threshold) {
  std::vector<std::size_t> falls;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].largest_fall >= threshold) falls.push_back(i);
  }
  if (falls.size() != 2) return false;
  double risen = 0;
  for (auto i = falls[0]; i < falls[1]; ++i) risen += windows[i].up;
  return risen >= windows[falls[1]].largest_fall / 2;
}

}  // namespace

std::vector<jump> take_out_shifts(stretch& steps, double least) {
  auto& windows = steps.windows;
  std::vector<double> changes;
  for (const auto& one : windows) changes.push_back(largest_change(one));
  std::sort(changes.begin(), changes.end(), std::greater<>());
  std::size_t count = 0;
  for (std::size_t k = 1; k <= most_shifts && k < changes.size(); ++k) {
    if (changes[k - 1] > std::max(least, dominance * changes[k])) count = k;
  }
  std::vector<jump> found;
  if (count == 0) return found;
  const double threshold = changes[count - 1];
  if (count == 2 && refills(windows, threshold)) return found;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (largest_change(windows[i]) < threshold) continue;
    const double change = windows[i].largest_rise >= windows[i].largest_fall
                              ? windows[i].largest_rise
                              : -windows[i].largest_fall;
    found.push_back({steps.first_step + static_cast<double>(i) * steps.width, change});
    take_out(steps, i, change);
  }
  return found;
}

}  // namespace memtrace::growth
