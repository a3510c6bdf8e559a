// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/jumps.h"

#include <algorithm>
#include <cmath>

namespace memtrace::growth {
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

}  // namespace memtrace::growth
