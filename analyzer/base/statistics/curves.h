// SPDX-License-Identifier: Apache-2.0
//
// Which law the growth follows: least squares over a few families of curves with one scale and one
// offset each, compared by Schwarz's criterion (Annals of Statistics 6 (1978) 461),
// BIC = n ln(RSS / n) + p ln n, where n counts independent points: n (1 - ρ) / (1 + ρ) for
// residuals of lag-1 autocorrelation ρ (Bayley and Hammersley, JRSS suppl. 8 (1946) 184).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/base/statistics/rank_tests.h"

namespace memtrace::growth {

enum class law : std::uint8_t {
  constant,
  linear,
  accelerating,
  saturating,
  logarithmic,
  late_start,
  ended_ramp,
};
[[nodiscard]] std::string_view name_of(law which);  // late_start

struct curve {
  law follows = law::constant;
  bool ongoing = false;  // still grows at the end
  int parameters = 1;
  double squared_error = 0;
  double rise = 0;          // over the points, bytes
  double from = 0, to = 1;  // where ramps begin and end, as a share of the points' span
};

inline constexpr double no_rival = 100;  // margin where nothing rises at all

struct comparison {
  curve best;
  double margin = 0;  // BIC by which it beats the best of the other answer (ongoing or not)
  double independent_points = 0;
  double autocorrelation = 0;  // of the best curve's residuals
};

// `least_noise`: bytes below which errors do not count.
[[nodiscard]] comparison compare_curves(const std::vector<point>& points, double least_noise);

// n ln(RSS/n + noise²) + p ln n.
[[nodiscard]] double schwarz(double squared_error, double points, double independent,
                             int parameters, double least_noise);

}  // namespace memtrace::growth
