// SPDX-License-Identifier: Apache-2.0
//
// From windows to the few points that the tests look at, and the rank tests on them. Points are a
// step and bytes; slopes are bytes a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/base/statistics/series.h"

namespace memtrace::growth {

// The rank tests that the verdicts rest on; O(n²) on the few points that they get.

struct point {
  double step = 0;
  double bytes = 0;
};

struct trend {
  double z = 0;              // Mann-Kendall, corrected; > 0 rises
  double slope = 0;          // Theil-Sen, bytes a step
  double low = 0, high = 0;  // its 95 % interval
};

// Mann-Kendall: Mann, Econometrica 13 (1945) 245; Kendall, Rank Correlation Methods (1975), with
//   his variance for ties, Var S = [n(n-1)(2n+5) - Σ t(t-1)(2t+5)] / 18, and the continuity
//   correction z = (S ∓ 1) / √Var S.
// Autocorrelation: Yue and Wang, Water Resources Management 18 (2004) 201: Var S is multiplied by
//   n/n* = 1 + 2 Σ (1 - k/n) ρ_k, with ρ_k = ρ_1^k; ρ_1 is the caller's, of what the best curve
//   leaves. A negative one is taken as zero: the test only gets more careful.
// Slope: Theil, Indagationes Mathematicae 12 (1950) 85; Sen, JASA 63 (1968) 1379: the median of the
//   pairs' slopes. Interval: Sen, by the ranks (N ± 1.96 √Var S) / 2 of the N sorted slopes.
[[nodiscard]] trend trend_of(std::span<const point> points, double autocorrelation = 0);

[[nodiscard]] double median_of(std::vector<double> values);
// Lag-1 autocorrelation about the mean; 0 where nothing varies.
[[nodiscard]] double lag_one(std::span<const double> values);

// From windows to the few points that the tests look at.
//
// Two views of the same steps. The *floor* (least values) is exact where memory returns to the same
// state every few steps, whatever comes and goes above it: a leak of 512 bytes a step shows beside
// gibibytes of varying batches. The *level* (averages) is better where nothing ever repeats
// exactly. And three resolutions: coarse points swallow episodes (an evaluation, a collection) that
// make fine ones rough.

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

// The standard error of the points' mean, were their changes noise: √(Σ change² / (n - 1)) / √n.
[[nodiscard]] double uncertainty(const std::vector<point>& points);

// The view in which changes between neighbours leave the least doubt about the mean.
[[nodiscard]] std::vector<point> clearest_points(const stretch& steps, double negligible);

}  // namespace memtrace::growth
