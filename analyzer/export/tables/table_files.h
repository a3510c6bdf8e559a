// SPDX-License-Identifier: Apache-2.0
//
// Rows into a folder with an Arrow or a Parquet file a table, which Python writes (pyarrow.h).
// Until then the columns wait in a folder inside of it.
#pragma once

#include <optional>
#include <string>

#include "analyzer/export/tables/column_spool.h"
#include "analyzer/export/tables/sink.h"

namespace memtrace::tables {

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
