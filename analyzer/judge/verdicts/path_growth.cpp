// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/path_growth.h"

#include <algorithm>

namespace memtrace::verdicts {

path_growth growth_of(std::span<const path_point> points) {
  if (points.empty()) return {};
  std::size_t top = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].bytes >= points[top].bytes) top = i;
  }
  std::size_t start = top;
  path_growth found;
  for (std::size_t i = top; i-- > 0;) {
    const auto risen = points[top].bytes - points[start].bytes;
    if (points[i].bytes > points[start].bytes + risen / 10) break;
    if (points[i].bytes < points[i + 1].bytes) ++found.rises;
    if (points[i].bytes < points[start].bytes) start = i;
  }
  const double steps = points[top].step - points[start].step;
  const auto risen = points[top].bytes - points[start].bytes;
  if (steps > 0) found.bytes_per_step = static_cast<double>(risen) / steps;
  found.to_the_end = top + 1 == points.size() && risen != 0;
  return found;
}

}  // namespace memtrace::verdicts
