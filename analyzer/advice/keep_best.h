// SPDX-License-Identifier: Apache-2.0
//
// Of all settings of the allocator that were tried the ones worth saying: the best one, and beside
// it expandable segments, whose saving does not hang on addresses.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/advice/piece.h"

namespace memtrace::advice {

inline constexpr std::string_view options_group = "allocator_options";

// `ranked`: see rank.h.
void keep_best_options(std::vector<piece>& ranked);

}  // namespace memtrace::advice
