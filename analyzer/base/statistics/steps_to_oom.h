// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace memtrace::growth {

struct room {
  std::uint64_t capacity_bytes = 0;   // that the process may use at most
  double floor_bytes = 0;             // what is live between steps, now
  double peak_above_floor_bytes = 0;  // what a step needs on top of it
};

// Whole steps that still succeed; 0 if the next one fails. Nothing where memory does not grow or
// the capacity is not known. Fragmentation is not in it: the failure may come earlier.
[[nodiscard]] std::optional<std::uint64_t> steps_to_oom(double bytes_per_step, const room& left);

}  // namespace memtrace::growth
