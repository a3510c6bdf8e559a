// SPDX-License-Identifier: Apache-2.0
//
// Of what was tried in many ways the ways worth saying: of the allocator's settings the best, and
// beside it expandable segments, whose saving does not hang on addresses; of places for empty_cache
// the best.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/judge/advice/piece.h"

namespace memtrace::advice {

inline constexpr std::string_view options_group = "allocator_options";
inline constexpr std::string_view empty_cache_group = "empty_cache";

// `ranked`: see rank.h.
void keep_best(std::vector<piece>& ranked);

}  // namespace memtrace::advice
