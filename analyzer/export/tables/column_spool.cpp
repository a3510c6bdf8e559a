// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/column_spool.h"

#include <fmt/core.h>
#include <zstd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "analyzer/export/tables/python.h"

namespace memtrace::tables {

namespace {

constexpr int level = 1;  // it is read once, at once

[[nodiscard]] const char* type_name(column_type type) {
  switch (type) {
    case column_type::integer:
      return "integer";
    case column_type::real:
      return "real";
    case column_type::text:
      return "text";
  }
  return "";
}

template <class Value>
void append(std::string& to, const std::vector<Value>& values) {
  to.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
  to.resize((to.size() + 7) / 8 * 8);
}

[[nodiscard]] const std::string& made(const std::string& folder) {
  std::error_code failed;  // the spool says what it cannot write there
  std::filesystem::create_directory(folder, failed);
  return folder;
}

}  // namespace

column_spool::column_spool(std::string folder) : folder_(std::move(folder)) {
  for (const auto* const one : all_tables()) {
    auto& made = open_[one];
    made.columns.resize(one->columns.size());
    const auto path = fmt::format("{}/{}.columns", folder_, one->name);
    made.file.reset(std::fopen(path.c_str(), "wb"));
    if (made.file == nullptr) fail(std::strerror(errno));
  }
}

void column_spool::fail(const std::string& what) {
  if (failed()) return;
  failure_ =
      fmt::format("{}: {}; free some space, or name a folder on another disk", folder_, what);
}

std::int32_t column_spool::code_of(column_data& in, std::string_view text) {
  if (in.latest_code >= 0 && in.latest == text) return in.latest_code;
  const auto [known, is_new] =
      in.known.try_emplace(std::string(text), static_cast<std::int32_t>(in.texts.size()));
  if (is_new) in.texts.push_back(&known->first);
  in.latest = known->first;
  return in.latest_code = known->second;
}

void column_spool::add(const table& to, std::span<const value> row) {
  if (failed()) return;
  auto& in = open_.at(&to);
  for (std::size_t i = 0; i < row.size(); ++i) {
    auto& column = in.columns[i];
    if (in.rows % 64 == 0) column.valid.push_back(0);
    const auto& one = row[i];
    if (one.index() != 0) column.valid.back() |= std::uint64_t{1} << (in.rows % 64);
    if (to.columns[i].type == column_type::text) {
      const auto* const text = std::get_if<std::string_view>(&one);
      column.codes.push_back(text == nullptr ? 0 : code_of(column, *text));
    } else if (const auto* const real = std::get_if<double>(&one)) {
      column.numbers.push_back(std::bit_cast<std::uint64_t>(*real));
    } else {
      const auto* const number = std::get_if<std::int64_t>(&one);
      column.numbers.push_back(number == nullptr ? 0 : static_cast<std::uint64_t>(*number));
    }
  }
  if (++in.rows == rows_in_a_batch) write_batch(in);
}

void column_spool::write_batch(open_table& in) {
  if (in.rows == 0 || failed()) return;
  std::string bytes;
  for (auto& column : in.columns) {
    append(bytes, column.valid);
    append(bytes, column.numbers);
    append(bytes, column.codes);
    column.valid.clear();
    column.numbers.clear();
    column.codes.clear();
  }
  std::string compressed(ZSTD_compressBound(bytes.size()), '\0');
  compressed.resize(
      ZSTD_compress(compressed.data(), compressed.size(), bytes.data(), bytes.size(), level));
  if (std::fwrite(compressed.data(), 1, compressed.size(), in.file.get()) != compressed.size()) {
    fail(std::strerror(errno));
  }
  in.batches.push_back({in.offset, compressed.size(), bytes.size(), in.rows});
  in.offset += compressed.size();
  in.rows = 0;
}

std::optional<std::string> column_spool::finish() {
  auto all = nlohmann::ordered_json::array();
  for (const auto* const one : all_tables()) {
    auto& in = open_.at(one);
    write_batch(in);
    if (in.file != nullptr && std::fflush(in.file.get()) != 0) fail(std::strerror(errno));
    auto columns = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < one->columns.size(); ++i) {
      const auto& column = one->columns[i];
      auto texts = nlohmann::ordered_json::array();
      for (const auto* const text : in.columns[i].texts) texts.push_back(*text);
      columns.push_back({{"name", column.name},
                         {"type", type_name(column.type)},
                         {"meaning", column.meaning},
                         {"texts", std::move(texts)}});
    }
    auto batches = nlohmann::ordered_json::array();
    for (const auto& [offset, compressed, bytes, rows] : in.batches) {
      batches.push_back({offset, compressed, bytes, rows});
    }
    all.push_back({{"name", one->name},
                   {"row", one->row},
                   {"columns", std::move(columns)},
                   {"batches", std::move(batches)}});
    in.file.reset();
  }
  if (failed()) return failure_;
  std::ofstream list(folder_ + "/tables.json", std::ios::binary);
  list << nlohmann::ordered_json{{"schema_version", schema_version}, {"tables", std::move(all)}}
              .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  list.close();
  if (!list) fail("the list of tables cannot be written");
  return failed() ? std::optional(failure_) : std::nullopt;
}

table_files::table_files(const std::string& folder, std::string format, std::string version)
    : folder_(folder),
      format_(std::move(format)),
      version_(std::move(version)),
      waiting_(folder + "/columns"),
      spool_(made(waiting_)) {}

std::optional<std::string> table_files::finish() {
  auto problem = spool_.finish();
  if (!problem) problem = write_tables(waiting_, folder_, format_, version_);
  std::error_code failed;
  std::filesystem::remove_all(waiting_, failed);
  return problem;
}

}  // namespace memtrace::tables
