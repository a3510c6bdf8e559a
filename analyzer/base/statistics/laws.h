// SPDX-License-Identifier: Apache-2.0
//
// The law that growth follows, and whether a handful of points goes on rising. Bytes over steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/base/statistics/judge.h"
#include "analyzer/base/statistics/level_changes.h"
#include "analyzer/base/statistics/points.h"

namespace memtrace::growth {

// Which law the growth follows: least squares over a few families of curves with one scale and one
// offset each, compared by Schwarz's criterion (Annals of Statistics 6 (1978) 461),
// BIC = n ln(RSS / n) + p ln n, where n counts independent points: n (1 - ρ) / (1 + ρ) for
// residuals of lag-1 autocorrelation ρ (Bayley and Hammersley, JRSS suppl. 8 (1946) 184).

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

// Whether a handful of points goes on rising.

inline constexpr double significant = 3.0;  // z, one-sided p = 0.0013

struct growth_found {
  bool leak = false;
  bool tentative = false;           // seems to grow, but the evidence is too thin
  bool staircase = false;           // by a few lasting jumps
  shape otherwise = shape::steady;  // where it is no leak
  trend ranks;
  comparison curves;
  jump_process process;
  std::vector<jump> jumps;
  double net = 0, noise = 0, autocorrelation = 0;  // bytes, bytes, lag 1
  std::size_t points = 0;
};

// Curves and a staircase of level changes compete; what they call ongoing growth, the ranks must
// confirm (points.h), and jumps must keep coming (level_changes.h).
[[nodiscard]] growth_found growth_of(const std::vector<point>& points, double negligible);

}  // namespace memtrace::growth
