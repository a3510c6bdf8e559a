// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/formats.h"

#include "analyzer/export/formats/table_rows.h"
#include "analyzer/export/tables/column_spool.h"
#include "analyzer/export/tables/python.h"
#include "analyzer/export/tables/sqlite_sink.h"

namespace memtrace::exporting {

std::unique_ptr<sink> make_sqlite(destination& to, const options& wanted) {
  return std::make_unique<table_rows>(
      std::make_unique<tables::sqlite_sink>(to.path(), wanted.version));
}

std::unique_ptr<sink> make_arrow(destination& to, const options& wanted) {
  return std::make_unique<table_rows>(
      std::make_unique<tables::table_files>(to.path(), "arrow", wanted.version));
}

std::unique_ptr<sink> make_parquet(destination& to, const options& wanted) {
  return std::make_unique<table_rows>(
      std::make_unique<tables::table_files>(to.path(), "parquet", wanted.version));
}

std::optional<std::string> lacks_for_arrow(const options&) {
  return tables::missing_pyarrow("arrow");
}

std::optional<std::string> lacks_for_parquet(const options&) {
  return tables::missing_pyarrow("parquet");
}

}  // namespace memtrace::exporting
