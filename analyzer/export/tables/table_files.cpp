// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/table_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "analyzer/export/tables/pyarrow.h"

namespace memtrace::tables {

namespace {

[[nodiscard]] const std::string& made(const std::string& folder) {
  std::error_code failed;  // the spool says what it cannot write there
  std::filesystem::create_directory(folder, failed);
  return folder;
}

}  // namespace

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
