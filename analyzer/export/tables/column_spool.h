// SPDX-License-Identifier: Apache-2.0
//
// Rows on their way to Arrow or Parquet: batches of columns as Arrow lays them out in memory, each
// compressed by zstd, in a file a table; at the end a list of all that, with the texts that the
// columns name by number. write_tables.py maps it and needs to convert nothing.
//
//   batch, before compression: for each column
//     one bit a row, lowest first: has a value; padded to 8 bytes
//     8 bytes a row (integers, reals), or 4 (texts: number in the column's list); padded to 8
//
// Texts come at the end because an Arrow file wants all of them before its first row.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/export/tables/sink.h"

namespace memtrace::tables {

class column_spool final : public sink {
 public:
  static constexpr std::size_t rows_in_a_batch = 65'536;

  explicit column_spool(std::string folder);  // an empty one

  void add(const table& to, std::span<const value> row) override;
  // Writes FOLDER/tables.json, the list.
  [[nodiscard]] std::optional<std::string> finish() override;
  [[nodiscard]] bool failed() const { return !failure_.empty(); }

 private:
  struct column_data {
    std::vector<std::uint64_t> valid;    // bits
    std::vector<std::uint64_t> numbers;  // of integers, or the bits of reals
    std::vector<std::int32_t> codes;     // of texts
    std::unordered_map<std::string, std::int32_t> known;
    std::vector<const std::string*> texts;  // by code
    std::string_view latest;                // in `texts`
    std::int32_t latest_code = -1;
  };
  struct batch {
    std::uint64_t offset = 0;
    std::uint64_t compressed = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rows = 0;
  };
  struct close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct open_table {
    std::unique_ptr<std::FILE, close> file;
    std::vector<column_data> columns;
    std::vector<batch> batches;
    std::size_t rows = 0;  // in the batch that is being filled
    std::uint64_t offset = 0;
  };

  [[nodiscard]] static std::int32_t code_of(column_data& in, std::string_view text);
  void write_batch(open_table& in);
  void fail(const std::string& what);

  std::string folder_;
  std::string failure_;
  std::map<const table*, open_table> open_;
};

// Rows into a folder with an Arrow or a Parquet file a table, which Python writes (python.h).
// Until then the columns wait in a folder inside of it.
class table_files final : public sink {
 public:
  // `folder` is there; `format`: arrow or parquet; `version`: of memtrace.
  table_files(const std::string& folder, std::string format, std::string version);

  void add(const table& to, std::span<const value> row) override { spool_.add(to, row); }
  [[nodiscard]] std::optional<std::string> finish() override;

 private:
  std::string folder_;
  std::string format_;
  std::string version_;
  std::string waiting_;
  column_spool spool_;
};

}  // namespace memtrace::tables
