// SPDX-License-Identifier: Apache-2.0
//
// Which rank is not like the others? Ranks of one job mostly do the same, so that of each figure
// the median is what a rank should have, and the median distance from it what is usual.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace memtrace::ranks {

// Below both of these a distance is nothing to speak of.
struct tolerance {
  double absolute = 0;
  double relative = 0;  // of the median
};

struct outlier {
  std::size_t index = 0;  // in the values
  double value = 0;
  double usual = 0;     // the median of all; of two values the other one
  double distance = 0;  // from it, in multiples of what is usual; 0: all others are alike
};

// By the modified z-score of Iglewicz and Hoaglin (How to Detect and Handle Outliers, 1993):
// 0.6745 |x - median| / MAD > 3.5. Of two values that differ the higher one; nothing where no value
// is usual, as in a pipeline whose stages all differ. The largest distance first.
[[nodiscard]] std::vector<outlier> outliers(std::span<const double> values, tolerance allowed);

}  // namespace memtrace::ranks
