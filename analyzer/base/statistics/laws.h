// SPDX-License-Identifier: Apache-2.0
//
// What a handful of points says about growth: do they go on rising?
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/base/statistics/curves.h"
#include "analyzer/base/statistics/judge.h"
#include "analyzer/base/statistics/jumps.h"
#include "analyzer/base/statistics/rank_tests.h"

namespace memtrace::growth {

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

// Growth laws compete (curves.h, change_points.h); what they call ongoing growth, the ranks must
// confirm (rank_tests.h), and jumps must keep coming (jumps.h).
[[nodiscard]] growth_found growth_of(const std::vector<point>& points, double negligible);

}  // namespace memtrace::growth
