// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/ranks/compare.h"

#include <algorithm>
#include <cmath>

namespace memtrace::ranks {

namespace {

constexpr double normal = 0.6745;  // MAD of a standard normal distribution
constexpr double limit = 3.5;

// Of a number of values that is not 0; of an even number the mean of the two in the middle.
[[nodiscard]] double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double upper = *middle;
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), middle)) / 2;
}

[[nodiscard]] bool tolerated(double distance, double usual, tolerance allowed) {
  return distance <= std::max(allowed.absolute, allowed.relative * std::fabs(usual));
}

[[nodiscard]] std::vector<outlier> of_two(std::span<const double> values, tolerance allowed) {
  const std::size_t higher = values[1] > values[0] ? 1 : 0;
  const double usual = values[1 - higher];
  if (tolerated(values[higher] - usual, usual, allowed)) return {};
  return {{higher, values[higher], usual, 0}};
}

}  // namespace

std::vector<outlier> outliers(std::span<const double> values, tolerance allowed) {
  if (values.size() < 2) return {};
  if (values.size() == 2) return of_two(values, allowed);
  const double usual = median({values.begin(), values.end()});
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::fabs(value - usual));
  const double spread = median(distances);
  std::vector<outlier> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (tolerated(distances[i], usual, allowed)) continue;
    if (normal * distances[i] <= limit * spread) continue;
    found.push_back({i, values[i], usual, spread == 0 ? 0 : normal * distances[i] / spread});
  }
  std::ranges::stable_sort(found, {},
                           [](const outlier& one) { return -std::fabs(one.value - one.usual); });
  return found;
}

}  // namespace memtrace::ranks
