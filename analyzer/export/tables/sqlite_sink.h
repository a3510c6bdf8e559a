// SPDX-License-Identifier: Apache-2.0
//
// Rows into an SQLite database. A table with shared columns becomes two, and a view that has its
// name and all of its columns:
//
//   blocks_rows(process, address, …, common) ──► blocks_common(common, category, line, …)
//            └────────────── view blocks(process, address, category, line, …) ──┘
//
// A training asks for the same memory at the same lines again and again: of ten million rows a few
// thousand combinations remain.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/export/tables/sink.h"
#include "analyzer/export/tables/sqlite_file.h"

namespace memtrace::tables {

class sqlite_sink final : public sink {
 public:
  // `path`: a file that is not there, or is empty. `version`: of memtrace.
  sqlite_sink(const std::string& path, const std::string& version);

  void add(const table& to, std::span<const value> row) override;
  [[nodiscard]] std::optional<std::string> finish() override;

 private:
  struct open_table {
    sqlite_file::statement rows;
    std::optional<sqlite_file::statement> common;
    std::unordered_map<std::string, std::int64_t> numbers;  // of combinations, by their bytes
    std::string latest;                                     // combination
    std::int64_t latest_number = 0;
    std::vector<value> own;     // of the row at hand
    std::vector<value> shared;  //
  };

  [[nodiscard]] std::int64_t number_of(open_table& in);

  sqlite_file file_;
  std::map<const table*, open_table> open_;
};

}  // namespace memtrace::tables
