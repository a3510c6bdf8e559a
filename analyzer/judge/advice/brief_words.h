// SPDX-License-Identifier: Apache-2.0
//
// What a person calls a piece of advice, where a sentence has room for a few words.
#pragma once

#include <string>
#include <string_view>

namespace memtrace::advice {

// Of a proposal's id: "micro-batches of a quarter of the size". Reads as one of several in a list.
[[nodiscard]] std::string brief_words(std::string_view id);

// Whether that is more than the id itself with spaces.
[[nodiscard]] bool has_brief_words(std::string_view id);

}  // namespace memtrace::advice
