// SPDX-License-Identifier: Apache-2.0
//
// Where the rows of an export go: an SQLite file, or columns for Arrow and Parquet.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "analyzer/export/tables/schema.h"

namespace memtrace::tables {

// A cell of a table: nothing, a signed 64-bit integer, a real number or a text. There is no other
// type: every reader of tables has these.
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

class sink {
 public:
  virtual ~sink() = default;
  // One value a column of `to`, in its order; texts are copied. After a failure nothing happens.
  virtual void add(const table& to, std::span<const value> row) = 0;
  // After the last row. Why the rows are not there, in one sentence; none: they are.
  [[nodiscard]] virtual std::optional<std::string> finish() = 0;
};

}  // namespace memtrace::tables
