// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/rank_tests.h"

#include <algorithm>
#include <cmath>

namespace memtrace::growth {
namespace {

constexpr double two_sided_95 = 1.96;

double tied_variance(std::span<const point> points) {
  std::vector<double> sorted;
  for (const auto& one : points) sorted.push_back(one.bytes);
  std::sort(sorted.begin(), sorted.end());
  const auto term = [](double count) { return count * (count - 1) * (2 * count + 5); };
  double sum = term(static_cast<double>(points.size()));
  for (std::size_t i = 0; i < sorted.size();) {
    auto j = i;
    while (j < sorted.size() && sorted[j] == sorted[i]) ++j;
    sum -= term(static_cast<double>(j - i));
    i = j;
  }
  return sum / 18;
}

// n/n* of Yue and Wang.
double inflation(double rho, std::size_t count) {
  if (rho <= 0) return 1;
  double sum = 0, power = 1;
  for (std::size_t k = 1; k < count; ++k) {
    power *= rho;
    sum += (1 - static_cast<double>(k) / static_cast<double>(count)) * power;
  }
  return 1 + 2 * sum;
}

double at_rank(const std::vector<double>& sorted, double rank) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::clamp(rank, 0.0, last))];
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double lag_one(std::span<const double> values) {
  if (values.size() < 3) return 0;
  double mean = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  double variance = 0, covariance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    variance += (values[i] - mean) * (values[i] - mean);
    if (i > 0) covariance += (values[i] - mean) * (values[i - 1] - mean);
  }
  return variance > 0 ? covariance / variance : 0;
}

trend trend_of(std::span<const point> points, double autocorrelation) {
  trend found;
  const auto count = points.size();
  if (count < 3) return found;
  double score = 0;
  std::vector<double> slopes;
  slopes.reserve(count * (count - 1) / 2);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      const double rise = points[j].bytes - points[i].bytes;
      score += rise > 0 ? 1 : rise < 0 ? -1 : 0;
      slopes.push_back(rise / (points[j].step - points[i].step));
    }
  }
  std::sort(slopes.begin(), slopes.end());
  found.slope = median_of(slopes);
  const double variance = tied_variance(points) * inflation(autocorrelation, count);
  if (variance <= 0) return found;
  const double deviation = std::sqrt(variance);
  if (score != 0) found.z = (score - (score > 0 ? 1 : -1)) / deviation;
  const auto pairs = static_cast<double>(slopes.size());
  found.low = at_rank(slopes, std::floor((pairs - two_sided_95 * deviation) / 2) - 1);
  found.high = at_rank(slopes, std::ceil((pairs + two_sided_95 * deviation) / 2));
  return found;
}

}  // namespace memtrace::growth
