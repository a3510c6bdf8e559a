// SPDX-License-Identifier: Apache-2.0
//
// Values of environment variables and of allocator settings, of which only what a program could
// have been told in public stays: numbers, and the words that such settings are made of.
#pragma once

#include <string>
#include <string_view>

namespace memtrace::scrub {

inline constexpr char removed[] = "(removed)";

// Word by word, since the settings are what the numbers of a report follow from.
[[nodiscard]] std::string scrubbed_settings(std::string_view text);

// As it is, or removed.
[[nodiscard]] std::string scrubbed_value(std::string_view text);

// Digits stay, anything else is removed.
[[nodiscard]] std::string scrubbed_number(std::string_view text);

}  // namespace memtrace::scrub
