// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/points.h"

#include <algorithm>
#include <array>
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

namespace {

constexpr std::array<std::size_t, 3> resolutions{128, 32, 10};
constexpr double finer_first = 1.3;  // by how much a later view must be better

// A low order statistic: the least of up to ten, so that not one odd window decides in many.
double low_of(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 10);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double value_of(const std::vector<double>& values, view what) {
  if (what == view::floor) return low_of(values);
  if (values.size() >= 5) return median_of(values);
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

stretch after_warmup(const series& values, std::uint64_t warmup) {
  stretch found;
  const auto width = values.width();
  // Window i begins at step 1 + i × width.
  const auto skip = warmup <= 1 ? 0 : (warmup - 2 + width) / width;
  const auto& all = values.windows();
  const auto first = std::min<std::size_t>(skip, all.size());
  found.windows.assign(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
  // A short last window says too little about its floor.
  if (found.windows.size() > 8 && found.windows.back().steps * 2 < width) found.windows.pop_back();
  found.first_step = 1 + static_cast<double>(first * width);
  found.width = static_cast<double>(width);
  return found;
}

std::vector<point> points_of(const stretch& steps, view what, std::size_t count) {
  const auto total = steps.windows.size();
  const auto group = std::max<std::size_t>(1, (total + count - 1) / count);
  std::vector<point> points;
  for (std::size_t begin = 0; begin < total;) {
    auto end = std::min(total, begin + group);
    if (total - end < (group + 1) / 2) end = total;  // no short last group
    std::vector<double> values;
    for (auto i = begin; i < end; ++i) {
      const auto& one = steps.windows[i];
      values.push_back(what == view::floor ? one.floor : one.level());
    }
    const double middle = static_cast<double>(begin + end) / 2;
    points.push_back({steps.first_step + middle * steps.width, value_of(values, what)});
    begin = end;
  }
  return points;
}

std::vector<point> lowest_of(const std::vector<point>& points, std::size_t count) {
  const auto group = std::max<std::size_t>(1, (points.size() + count - 1) / count);
  std::vector<point> kept;
  for (std::size_t begin = 0; begin < points.size(); begin += group) {
    const auto from = points.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to =
        points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), begin + group));
    kept.push_back(*std::min_element(
        from, to, [](const point& a, const point& b) { return a.bytes < b.bytes; }));
  }
  return kept;
}

std::vector<point> without_strays(std::vector<point> points, double negligible) {
  constexpr std::size_t reach = 3;
  if (points.size() < 2 * reach + 1) return points;
  std::vector<double> middles, distances;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto from = std::min(i - std::min(i, reach), points.size() - 2 * reach - 1);
    std::vector<double> near;
    for (auto j = from; j <= from + 2 * reach; ++j) near.push_back(points[j].bytes);
    middles.push_back(median_of(std::move(near)));
    distances.push_back(std::abs(points[i].bytes - middles.back()));
  }
  const double scale = std::max(negligible, 4 * 1.4826 * median_of(distances));
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i < reach || i + reach >= points.size()) continue;
    if (distances[i] > scale) points[i].bytes = middles[i];
  }
  return points;
}

double uncertainty(const std::vector<point>& points) {
  double squares = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double change = points[i].bytes - points[i - 1].bytes;
    squares += change * change;
  }
  const auto count = static_cast<double>(points.size());
  return std::sqrt(squares / std::max(1.0, count - 1) / std::max(1.0, count));
}

std::vector<point> clearest_points(const stretch& steps, double negligible) {
  std::vector<point> best;
  double least = 0;
  for (const auto count : resolutions) {
    for (const auto what : {view::floor, view::level}) {
      auto points = without_strays(points_of(steps, what, count), negligible);
      const double doubt = uncertainty(points);
      if (best.empty() || doubt * finer_first < least) {
        best = std::move(points);
        least = doubt;
      }
    }
  }
  return best;
}

}  // namespace memtrace::growth
