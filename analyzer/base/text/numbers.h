// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers from text, and shares of a whole.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memtrace::text {

// Empty: the text is not a number from its first to its last character, or it is too large.
template <class Number = std::uint64_t>
[[nodiscard]] std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// 0 where the whole is nothing.
[[nodiscard]] inline double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace memtrace::text
