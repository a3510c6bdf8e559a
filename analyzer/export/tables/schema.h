// SPDX-License-Identifier: Apache-2.0
//
// The tables of an export, said once: every format has these tables with these columns, and
// docs/tables.md lists them. Sizes are bytes, times nanoseconds since the recording began.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace memtrace::tables {

// Grows when a column is taken away or means something else; a new one leaves it as it is.
inline constexpr int schema_version = 1;

enum class column_type : std::uint8_t { integer, real, text };

struct column {
  std::string_view name;
  column_type type = column_type::integer;
  std::string_view meaning;
  // In a table that repeats the report: a JSON pointer into the row's object there. A list of
  // frames becomes its site as an integer, its line as a text.
  std::string_view in_report = {};
  // Few values or few combinations of them in very many rows: SQLite keeps each combination once.
  bool is_shared = false;
};

struct table {
  std::string_view name;
  std::string_view row;  // what a row is
  std::span<const column> columns;
  std::string_view key = {};  // columns by which its rows are ordered and found; empty: none
  [[nodiscard]] bool has_shared() const {
    for (const auto& one : columns) {
      if (one.is_shared) return true;
    }
    return false;
  }
};

extern const table processes, devices, events, blocks, steps, phases, frames, stacks, sites,
    modules, verdicts, suspects, retainers, fragmentation, advice, oom;

// In the order in which a reader would look at them.
[[nodiscard]] std::span<const table* const> all_tables();
[[nodiscard]] const table* table_named(std::string_view name);  // null: there is none

}  // namespace memtrace::tables
