// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/sqlite_sink.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstring>

extern "C" const char memtrace_table_views[];  // views.sql: embedded_bytes.S

namespace memtrace::tables {

namespace {

// So that file(1) and other tools can tell it: "mtrc".
constexpr int application_id = 0x6d747263;

[[nodiscard]] const char* type_name(column_type type) {
  switch (type) {
    case column_type::integer:
      return "INTEGER";
    case column_type::real:
      return "REAL";
    case column_type::text:
      return "TEXT";
  }
  return "";
}

[[nodiscard]] std::string sql_text(std::string_view text) {
  std::string made = "'";
  for (const char one : text) {
    if (one == '\'') made += '\'';
    made += one;
  }
  return made + "'";
}

[[nodiscard]] std::string insert(const std::string& into, std::size_t columns) {
  const std::vector<std::string_view> marks(columns, "?");
  return fmt::format("INSERT INTO {} VALUES ({})", into, fmt::join(marks, ", "));
}

struct definition {
  std::vector<std::string> own;     // NAME TYPE
  std::vector<std::string> shared;  //
  std::vector<std::string> all;     // names, in the order of the schema
};

[[nodiscard]] definition define(const table& which) {
  definition made;
  for (const auto& one : which.columns) {
    (one.is_shared ? made.shared : made.own)
        .push_back(fmt::format("{} {}", one.name, type_name(one.type)));
    made.all.emplace_back(one.name);
  }
  return made;
}

void create(sqlite_file& file, const table& which) {
  auto columns = define(which);
  const std::string name(which.name);
  if (columns.shared.empty()) {
    // One column of numbers as the key is where SQLite keeps the row: no index is needed.
    if (!which.key.empty() && which.key.find(',') == std::string_view::npos) {
      columns.own.push_back(fmt::format("PRIMARY KEY ({})", which.key));
    }
    file.run(fmt::format("CREATE TABLE {} ({})", name, fmt::join(columns.own, ", ")));
    return;
  }
  file.run(fmt::format("CREATE TABLE {}_common (common INTEGER PRIMARY KEY, {})", name,
                       fmt::join(columns.shared, ", ")));
  file.run(
      fmt::format("CREATE TABLE {}_rows ({}, common INTEGER)", name, fmt::join(columns.own, ", ")));
  file.run(fmt::format("CREATE VIEW {0} AS SELECT {1} FROM {0}_rows JOIN {0}_common USING (common)",
                       name, fmt::join(columns.all, ", ")));
}

void describe(sqlite_file& file, const table& which) {
  file.run(fmt::format("INSERT INTO schema_tables VALUES ({}, {})", sql_text(which.name),
                       sql_text(which.row)));
  for (const auto& one : which.columns) {
    file.run(fmt::format("INSERT INTO schema_columns VALUES ({}, {}, {}, {})", sql_text(which.name),
                         sql_text(one.name), sql_text(type_name(one.type)), sql_text(one.meaning)));
  }
}

void append(std::string& to, const value& one) {
  to += static_cast<char>('0' + one.index());
  if (const auto* const text = std::get_if<std::string_view>(&one)) {
    const auto size = text->size();
    to.append(reinterpret_cast<const char*>(&size), sizeof size).append(*text);
  } else if (const auto* const number = std::get_if<std::int64_t>(&one)) {
    to.append(reinterpret_cast<const char*>(number), sizeof *number);
  } else if (const auto* const real = std::get_if<double>(&one)) {
    to.append(reinterpret_cast<const char*>(real), sizeof *real);
  }
}

}  // namespace

sqlite_sink::sqlite_sink(const std::string& path, const std::string& version) : file_(path) {
  file_.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id,
                        schema_version));
  file_.run(
      "CREATE TABLE schema_tables (table_name TEXT PRIMARY KEY, row_is TEXT);"
      "CREATE TABLE schema_columns (table_name TEXT, column_name TEXT, type TEXT, meaning TEXT);"
      "CREATE TABLE made_by (program TEXT, version TEXT)");
  file_.run(fmt::format("INSERT INTO made_by VALUES ('memtrace', {})", sql_text(version)));
  for (const auto* const one : all_tables()) {
    create(file_, *one);
    describe(file_, *one);
    const auto columns = define(*one);
    const std::string name(one->name);
    if (columns.shared.empty()) {
      open_.emplace(
          one, open_table{file_.prepare(insert(name, columns.own.size())), {}, {}, {}, 0, {}, {}});
      continue;
    }
    auto rows = file_.prepare(insert(name + "_rows", columns.own.size() + 1));
    auto common = file_.prepare(insert(name + "_common", columns.shared.size() + 1));
    open_.emplace(one, open_table{std::move(rows), std::move(common), {}, {}, 0, {}, {}});
  }
}

std::int64_t sqlite_sink::number_of(open_table& in) {
  std::string bytes;
  bytes.reserve(in.latest.size());
  for (const auto& one : in.shared) append(bytes, one);
  if (bytes == in.latest) return in.latest_number;
  const auto [known, is_new] =
      in.numbers.try_emplace(bytes, static_cast<std::int64_t>(in.numbers.size()));
  if (is_new) {
    in.common->bind(1, whole(known->second));
    in.common->bind(2, in.shared);
    in.common->step();
  }
  in.latest = std::move(bytes);
  return in.latest_number = known->second;
}

void sqlite_sink::add(const table& to, std::span<const value> row) {
  if (file_.failed()) return;
  auto& in = open_.at(&to);
  if (!in.common) {
    in.rows.bind(1, row);
    in.rows.step();
    return;
  }
  in.own.clear();
  in.shared.clear();
  for (std::size_t i = 0; i < row.size(); ++i) {
    (to.columns[i].is_shared ? in.shared : in.own).push_back(row[i]);
  }
  in.own.push_back(whole(number_of(in)));
  in.rows.bind(1, in.own);
  in.rows.step();
}

std::optional<std::string> sqlite_sink::finish() {
  open_.clear();  // its statements
  file_.run(std::string(memtrace_table_views));
  return file_.finish();
}

}  // namespace memtrace::tables
