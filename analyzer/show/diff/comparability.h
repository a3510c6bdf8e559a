// SPDX-License-Identifier: Apache-2.0
//
// Why two runs, or some of their figures, cannot be compared as they stand.
#pragma once

#include <string>
#include <vector>

namespace memtrace::diff {

struct run_difference;

// In a sentence each, the gravest first; nothing where they compare.
[[nodiscard]] std::vector<std::string> what_does_not_compare(const run_difference& runs);

}  // namespace memtrace::diff
