// SPDX-License-Identifier: Apache-2.0
//
// Do jumps keep coming, or do they get rarer? Records of a stationary sequence (the longest batch
// so far) are a Poisson process in the logarithm of time (Rényi 1962; Arnold, Balakrishnan and
// Nagaraja, Records, 1998, ch. 2): a jump at step t has density 1 / (t ln(n / k)) on [k, n]. Jumps
// that keep coming have density 1 / (n - k). The difference of the log-likelihoods decides; more
// jumps than the ln(n / k) records to be expected add to it, by how unlikely (Poisson) so many are,
// and so do evenly spaced and equally high jumps, since records are neither.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/base/statistics/change_points.h"

namespace memtrace::growth {

struct jump {
  double step = 0;
  double bytes = 0;  // < 0: down
};

struct jump_process {
  std::size_t rises = 0;
  double log_odds = 0;      // > 0: keep coming
  double silence = 0;       // steps since the last rise over the longest wait before it
  double silent_share = 0;  // steps since the last rise over all
  double usual_wait = 0;    // steps between rises
};

// Rises of the level below which memory never falls again: what comes and goes, and dents of a few
// points, leave no trace.
[[nodiscard]] std::vector<jump> lasting_rises(const segments& found,
                                              const std::vector<point>& points);

// `from` … `to`: the steps that were looked at.
[[nodiscard]] jump_process process_of(const std::vector<jump>& jumps, double from, double to);

}  // namespace memtrace::growth
