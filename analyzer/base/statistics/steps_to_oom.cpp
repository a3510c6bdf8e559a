// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/steps_to_oom.h"

#include <cmath>

namespace memtrace::growth {

std::optional<std::uint64_t> steps_to_oom(double bytes_per_step, const room& left) {
  if (left.capacity_bytes == 0 || !(bytes_per_step > 0)) return std::nullopt;
  const double free =
      static_cast<double>(left.capacity_bytes) - left.floor_bytes - left.peak_above_floor_bytes;
  if (free < 0) return 0;
  const double steps = std::floor(free / bytes_per_step);
  constexpr double most = 1e15;  // a rate near zero: far beyond any run, and safe to convert
  return static_cast<std::uint64_t>(std::fmin(steps, most));
}

}  // namespace memtrace::growth
