// SPDX-License-Identifier: Apache-2.0
//
// The rank tests that the verdicts rest on; O(n²) on the few points that they get.
#pragma once

#include <span>
#include <vector>

namespace memtrace::growth {

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

}  // namespace memtrace::growth
