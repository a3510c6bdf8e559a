// SPDX-License-Identifier: Apache-2.0
//
// Sawteeth: memory that fills over several steps and empties at once. What tells them from noise
// and from episodes (an evaluation) is that the falls are larger than any rise.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/base/statistics/points.h"

namespace memtrace::growth {

struct sawtooth {
  std::size_t teeth = 0;      // falls; a lower bound where several share a window
  double fall_bytes = 0;      // a usual one
  std::vector<point> floors;  // the least bytes between two falls
  std::vector<point> levels;  // the average between two falls
};

// No teeth where there is no sawtooth. `least` bytes: smaller falls are nothing.
[[nodiscard]] sawtooth find_teeth(const stretch& steps, double least);

// Rises little by little, falls once by nearly all of that, down to where it began, and rises
// again: the first round of a buffer that is emptied.
[[nodiscard]] bool has_emptied_once(const stretch& steps, double least);

}  // namespace memtrace::growth
