// SPDX-License-Identifier: Apache-2.0
#include "analyzer/growth/jumps.h"

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

}  // namespace

std::vector<jump> jumps_of(const segments& found, const std::vector<point>& points) {
  std::vector<jump> jumps;
  for (std::size_t i = 1; i < found.starts.size(); ++i) {
    const auto at = found.starts[i];
    jumps.push_back(
        {(points[at - 1].step + points[at].step) / 2, found.means[i] - found.means[i - 1]});
  }
  return jumps;
}

jump_process process_of(const std::vector<jump>& jumps, double from, double to) {
  jump_process found;
  std::vector<double> waits, heights;
  double last = from, longest = 0;
  from = std::max(1.0, from);
  for (const auto& one : jumps) {
    if (one.bytes < 0) {
      found.fallen -= one.bytes;
      continue;
    }
    found.risen += one.bytes;
    heights.push_back(one.bytes);
    if (found.rises > 0) waits.push_back(one.step - last);
    longest = std::max(longest, one.step - last);
    ++found.rises;
    last = one.step;
    found.log_odds += std::log(one.step * std::log(to / from) / (to - from));
  }
  if (found.rises == 0) return found;
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
    found.log_odds += evenness(variation_of(waits)) + evenness(variation_of(heights));
  }
  return found;
}

}  // namespace memtrace::growth
