// SPDX-License-Identifier: Apache-2.0
//
// Where the level of a series of points changes for good: optimal partitioning into constant
// segments (Jackson et al., IEEE Signal Processing Letters 12 (2005) 105; the penalised cost of
// Killick, Fearnhead and Eckley, JASA 107 (2012) 1590, without its pruning: there are few points).
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/base/statistics/rank_tests.h"

namespace memtrace::growth {

struct segments {
  std::vector<std::size_t> starts;  // the first point of each segment; starts[0] == 0
  std::vector<double> means;
  double squared_error = 0;
  double deviation = 0;  // standard deviation of the points in their segments

  [[nodiscard]] std::size_t jumps() const { return starts.empty() ? 0 : starts.size() - 1; }
};

// A change costs 3 ln(n) noise variances; the noise is the median absolute difference of
// neighbours (1.4826 / √2 of it), never below `least_noise` bytes.
[[nodiscard]] segments segments_of(const std::vector<point>& points, double least_noise);

// Whether these are plateaus between clear edges: few, and each jump above 4 deviations.
[[nodiscard]] bool is_staircase(const segments& found, std::size_t points);

}  // namespace memtrace::growth
