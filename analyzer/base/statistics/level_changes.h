// SPDX-License-Identifier: Apache-2.0
//
// Changes of the level of a series: where it changes for good, whether such jumps keep coming,
// single shifts that would drown everything else, and the teeth of what fills and empties. Heights
// are bytes, times are steps.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/base/statistics/points.h"

namespace memtrace::growth {

// Where the level of a series of points changes for good: optimal partitioning into constant
// segments (Jackson et al., IEEE Signal Processing Letters 12 (2005) 105; the penalised cost of
// Killick, Fearnhead and Eckley, JASA 107 (2012) 1590, without its pruning: there are few points).

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

// Do jumps keep coming, or do they get rarer? Records of a stationary sequence (the longest batch
// so far) are a Poisson process in the logarithm of time (Rényi 1962; Arnold, Balakrishnan and
// Nagaraja, Records, 1998, ch. 2): a jump at step t has density 1 / (t ln(n / k)) on [k, n]. Jumps
// that keep coming have density 1 / (n - k). The difference of the log-likelihoods decides; more
// jumps than the ln(n / k) records to be expected add to it, by how unlikely (Poisson) so many are,
// and so do evenly spaced and equally high jumps, since records are neither.

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

// Single lasting shifts (a layer unfrozen, a second model loaded or dropped) that would drown
// everything else: taken out, so that the rest can be judged.

// Takes out at most two step-to-step changes, each at least 8 times as large as any that is left;
// not two falls between which it has risen as much again.
[[nodiscard]] std::vector<jump> take_out_shifts(stretch& steps, double least);

// Sawteeth: memory that fills over several steps and empties at once. What tells them from noise
// and from episodes (an evaluation) is that the falls are larger than any rise.

struct sawtooth {
  std::size_t teeth = 0;      // falls; a lower bound where several share a window
  double fall_bytes = 0;      // a usual one
  double fall_steps = 0;      // from one to the next, on average; 0: not known
  std::vector<point> floors;  // the least bytes between two falls
  std::vector<point> levels;  // the average between two falls
};

// No teeth where there is no sawtooth. `least` bytes: smaller falls are nothing.
[[nodiscard]] sawtooth find_teeth(const stretch& steps, double least);

// Rises little by little, falls once by nearly all of that, down to where it began, and rises
// again: the first round of a buffer that is emptied.
[[nodiscard]] bool has_emptied_once(const stretch& steps, double least);

}  // namespace memtrace::growth
