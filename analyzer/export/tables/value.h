// SPDX-License-Identifier: Apache-2.0
//
// A cell of a table: nothing, a signed 64-bit integer, a real number or a text. There is no other
// type: every reader of tables has these.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace memtrace::tables {

using value = std::variant<std::monostate, std::int64_t, double, std::string_view>;

// Handles and addresses beyond 2^63, which no GPU of today has, become negative.
[[nodiscard]] constexpr value whole(std::integral auto number) {
  return static_cast<std::int64_t>(number);
}
template <class Number>
[[nodiscard]] constexpr value whole(const std::optional<Number>& number) {
  return number ? whole(*number) : value();
}
// Empty: nothing.
[[nodiscard]] constexpr value words(std::string_view content) {
  return content.empty() ? value() : value(content);
}

}  // namespace memtrace::tables
