// SPDX-License-Identifier: Apache-2.0
//
// The same requests under several scenarios at once. They share nothing but the log, which is only
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

struct tried_scenario {
  range_of_outcomes range;
  std::optional<smallest_fit> fits;
};

// In the order of `scenarios`, the same whatever the number of threads (side_by_side.h).
// `most` and `step` are find_smallest_fit's, in bytes.
[[nodiscard]] std::vector<tried_scenario> try_each(const request_log& log,
                                                   const std::vector<scenario>& scenarios,
                                                   std::uint64_t most, std::uint64_t step);

}  // namespace memtrace::allocator
