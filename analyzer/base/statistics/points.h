// SPDX-License-Identifier: Apache-2.0
//
// From windows to the few points that the tests look at.
//
// Two views of the same steps. The *floor* (least values) is exact where memory returns to the same
// state every few steps, whatever comes and goes above it: a leak of 512 bytes a step shows beside
// gibibytes of varying batches. The *level* (averages) is better where nothing ever repeats
// exactly. And three resolutions: coarse points swallow episodes (an evaluation, a collection) that
// make fine ones rough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/statistics/rank_tests.h"
#include "analyzer/base/statistics/series.h"

namespace memtrace::growth {

// Consecutive windows of a series.
struct stretch {
  std::vector<window> windows;
  double first_step = 0;
  double width = 1;  // steps a window
};

// The windows after the first `warmup` steps.
[[nodiscard]] stretch after_warmup(const series& values, std::uint64_t warmup);

enum class view : std::uint8_t { floor, level };

// About `count` points from groups of equally many windows; fewer where there are fewer windows.
[[nodiscard]] std::vector<point> points_of(const stretch& steps, view what, std::size_t count);
// Groups neighbours until at most `count` are left: the least of each group.
[[nodiscard]] std::vector<point> lowest_of(const std::vector<point>& points, std::size_t count);

// Points that stray from the median of the seven around them by more than 4 standard deviations
// (1.4826 × the median of such distances) take that median: the filter of Hampel (Pearson, IEEE
// Transactions on Control Systems Technology 10 (2002) 55). Least squares needs it, ranks do not.
[[nodiscard]] std::vector<point> without_strays(std::vector<point> points, double negligible);

// Of a mean over the points, were their changes noise: √(Σ change² / (n - 1)) / √n.
[[nodiscard]] double uncertainty(const std::vector<point>& points);

// The view in which changes between neighbours leave the least doubt about the mean.
[[nodiscard]] std::vector<point> clearest_points(const stretch& steps, double negligible);

}  // namespace memtrace::growth
