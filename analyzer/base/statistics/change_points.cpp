// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/change_points.h"

#include <algorithm>
#include <cmath>
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

}  // namespace memtrace::growth
