// SPDX-License-Identifier: Apache-2.0
//
// Which known name somebody meant.
#pragma once

#include <cstddef>
#include <string_view>

namespace memtrace::text {

// How many characters have to be replaced, added or left out (Levenshtein).
[[nodiscard]] std::size_t edit_distance(std::string_view from, std::string_view to);

// Whether it may be a misspelling: at most a third of its characters differ, and at least one does
// not.
[[nodiscard]] bool may_mean(std::string_view written, std::string_view known);

}  // namespace memtrace::text
