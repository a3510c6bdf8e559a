// SPDX-License-Identifier: Apache-2.0
#include "tests/answers/statistics/baselines.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace baselines {
namespace {

// S of Mann-Kendall in O(n log n): discordant pairs are the inversions that a merge sort counts.
std::int64_t sort_and_count(std::vector<std::uint64_t>& values, std::vector<std::uint64_t>& spare,
                            std::size_t from, std::size_t to) {
  if (to - from < 2) return 0;
  const auto middle = (from + to) / 2;
  auto inversions =
      sort_and_count(values, spare, from, middle) + sort_and_count(values, spare, middle, to);
  auto i = from, j = middle, k = from;
  while (i < middle || j < to) {
    if (j == to || (i < middle && values[i] <= values[j])) {
      spare[k++] = values[i++];
    } else {
      inversions += static_cast<std::int64_t>(middle - i);
      spare[k++] = values[j++];
    }
  }
  std::copy(spare.begin() + static_cast<std::ptrdiff_t>(from),
            spare.begin() + static_cast<std::ptrdiff_t>(to),
            values.begin() + static_cast<std::ptrdiff_t>(from));
  return inversions;
}

}  // namespace

bool mann_kendall(std::span<const std::uint64_t> bytes) {
  std::vector<std::uint64_t> sorted(bytes.begin(), bytes.end()), spare(bytes.size());
  const auto inversions = static_cast<double>(sort_and_count(sorted, spare, 0, sorted.size()));
  const auto n = static_cast<double>(bytes.size());
  double tied_pairs = 0, variance = n * (n - 1) * (2 * n + 5);
  for (std::size_t i = 0; i < sorted.size();) {
    auto j = i;
    while (j < sorted.size() && sorted[j] == sorted[i]) ++j;
    const auto t = static_cast<double>(j - i);
    tied_pairs += t * (t - 1) / 2;
    variance -= t * (t - 1) * (2 * t + 5);
    i = j;
  }
  const double score = n * (n - 1) / 2 - tied_pairs - 2 * inversions;
  return variance > 0 && (score - 1) / std::sqrt(variance / 18) > 2.58;
}

bool regression(std::span<const std::uint64_t> bytes) {
  const auto n = static_cast<double>(bytes.size());
  double mean_x = (n - 1) / 2, mean_y = 0;
  for (const auto value : bytes) mean_y += static_cast<double>(value) / n;
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double x = static_cast<double>(i) - mean_x, y = static_cast<double>(bytes[i]) - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  return xy > 0 && yy > 0 && xy * xy > 0.5 * xx * yy;
}

bool hundred_megabytes(std::span<const std::uint64_t> bytes) {
  std::size_t grew = 0;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (bytes[i] > bytes[i - 1] + 100'000'000) ++grew;
  }
  return static_cast<double>(grew) > 0.7 * static_cast<double>(bytes.size() - 1);
}

}  // namespace baselines
