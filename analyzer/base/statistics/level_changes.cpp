// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/level_changes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace memtrace::growth {

namespace {

double noise_of(const std::vector<point>& points) {
  std::vector<double> changes;
  for (std::size_t i = 1; i < points.size(); ++i) {
    changes.push_back(std::abs(points[i].bytes - points[i - 1].bytes));
  }
  return 1.4826 * median_of(std::move(changes)) / std::sqrt(2.0);
}

// Sums over [0, i), of values relative to the first: keeps the squares small.
struct prefix_sums {
  explicit prefix_sums(const std::vector<point>& points) : sum{0}, square{0} {
    for (const auto& one : points) {
      const double value = one.bytes - points.front().bytes;
      sum.push_back(sum.back() + value);
      square.push_back(square.back() + value * value);
    }
  }
  [[nodiscard]] double mean(std::size_t i, std::size_t j) const {
    return (sum[j] - sum[i]) / static_cast<double>(j - i);
  }
  [[nodiscard]] double error(std::size_t i, std::size_t j) const {
    const double total = sum[j] - sum[i];
    return std::max(0.0, square[j] - square[i] - total * total / static_cast<double>(j - i));
  }
  std::vector<double> sum, square;
};

}  // namespace

segments segments_of(const std::vector<point>& points, double least_noise) {
  segments found;
  const auto count = points.size();
  if (count == 0) return found;
  const prefix_sums sums(points);
  const double noise = std::max(least_noise, noise_of(points));
  const double penalty = 3 * std::log(static_cast<double>(count)) * noise * noise;
  std::vector<double> best(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(count + 1, 0);
  best[0] = -penalty;
  for (std::size_t j = 1; j <= count; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const double cost = best[i] + sums.error(i, j) + penalty;
      if (cost < best[j]) {
        best[j] = cost;
        from[j] = i;
      }
    }
  }
  for (std::size_t j = count; j > 0; j = from[j]) {
    found.starts.push_back(from[j]);
    found.means.push_back(points.front().bytes + sums.mean(from[j], j));
    found.squared_error += sums.error(from[j], j);
  }
  std::reverse(found.starts.begin(), found.starts.end());
  std::reverse(found.means.begin(), found.means.end());
  const auto free = count > found.starts.size() ? count - found.starts.size() : 1;
  found.deviation = std::sqrt(found.squared_error / static_cast<double>(free));
  return found;
}

bool is_staircase(const segments& found, std::size_t points) {
  if (found.jumps() == 0 || found.jumps() * 3 > points) return false;
  for (std::size_t i = 1; i < found.means.size(); ++i) {
    if (std::abs(found.means[i] - found.means[i - 1]) < 4 * found.deviation) return false;
  }
  return true;
}

namespace {

// Coefficient of variation.
double variation_of(const std::vector<double>& values) {
  double mean = 0, square = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) square += (value - mean) * (value - mean);
  if (mean <= 0 || values.size() < 2) return 1;
  return std::sqrt(square / static_cast<double>(values.size() - 1)) / mean;
}

// P(at least `count`) of a Poisson variable.
double poisson_tail(double mean, std::size_t count) {
  double term = std::exp(-mean), below = 0;
  for (std::size_t k = 0; k < count; ++k) {
    below += term;
    term *= mean / static_cast<double>(k + 1);
  }
  return std::max(1e-9, 1 - below);
}

// A short segment below both of its neighbours: a few odd steps.
bool is_dent(const segments& found, std::size_t i, std::size_t points) {
  if (i == 0 || i + 1 >= found.starts.size()) return false;
  const auto length = found.starts[i + 1] - found.starts[i];
  return length * 40 <= points + 39 && found.means[i] < found.means[i - 1] &&
         found.means[i] < found.means[i + 1];
}

}  // namespace

std::vector<jump> lasting_rises(const segments& found, const std::vector<point>& points) {
  std::vector<std::size_t> starts;
  std::vector<double> levels;
  for (std::size_t i = 0; i < found.starts.size(); ++i) {
    if (is_dent(found, i, points.size())) continue;
    starts.push_back(found.starts[i]);
    levels.push_back(found.means[i]);
  }
  // From the end: what is never fallen below again.
  for (auto i = levels.size(); i-- > 1;) levels[i - 1] = std::min(levels[i - 1], levels[i]);
  std::vector<jump> rises;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    if (levels[i] - levels[i - 1] < 4 * found.deviation || levels[i] <= levels[i - 1]) continue;
    const auto at = starts[i];
    rises.push_back({(points[at - 1].step + points[at].step) / 2, levels[i] - levels[i - 1]});
  }
  return rises;
}

jump_process process_of(const std::vector<jump>& jumps, double from, double to) {
  jump_process found;
  std::vector<double> waits, heights;
  double last = from, longest = 0;
  from = std::max(1.0, from);
  for (const auto& one : jumps) {
    heights.push_back(one.bytes);
    if (found.rises > 0) waits.push_back(one.step - last);
    longest = std::max(longest, one.step - last);
    ++found.rises;
    last = one.step;
    found.log_odds += std::log(one.step * std::log(to / from) / (to - from));
  }
  if (found.rises == 0) return found;
  const double times_say = found.log_odds;
  found.log_odds -= std::log(poisson_tail(std::log(to / from), found.rises));
  found.silence = (to - last) / std::max(1.0, longest);
  found.silent_share = (to - last) / (to - from);
  found.usual_wait = waits.empty() ? to - from : median_of(waits);
  if (found.rises >= 3) {
    // How much more likely such even spacing and such equal heights are when something regular
    // makes them: the spread of a periodic cause is a fraction of the mean, a record's is the mean.
    const auto count = static_cast<double>(found.rises);
    const auto evenness = [&](double variation) {
      return std::clamp(-std::log(std::max(0.05, variation)) - 0.5, -1.0, 2.0) * (count - 1) / 2;
    };
    // Buffers that double also grow by equal parts: heights say less than times, and cannot make up
    // for times that speak for records.
    const double heights_say = evenness(variation_of(heights)) / 2;
    found.log_odds += evenness(variation_of(waits));
    found.log_odds += times_say < 0 ? std::min(0.0, heights_say) : heights_say;
  }
  return found;
}

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
  // Falls in neighbouring windows may be those of more teeth than there are windows.
  constexpr double least_windows = 3;
  const auto between = static_cast<double>(falls.back() - falls.front());
  const auto gaps = static_cast<double>(falls.size() - 1);
  if (between >= least_windows * gaps && gaps > 0) found.fall_steps = between * steps.width / gaps;
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
