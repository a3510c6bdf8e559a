// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/run/ranks/find_ranks.h"

namespace memtrace::ranks {

// Among ranks of one attempt, or processes that say no rank and run the same command. The gravest
// first.
[[nodiscard]] std::vector<rank_difference> differences_of(const std::vector<rank_row>& rows);

}  // namespace memtrace::ranks
