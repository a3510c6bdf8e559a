// SPDX-License-Identifier: Apache-2.0
//
// The Python with pyarrow that writes Arrow and Parquet files (write_tables.py).
#pragma once

#include <optional>
#include <string>

namespace memtrace::tables {

// Why there is none, in one sentence with the remedy; none: there is one.
[[nodiscard]] std::optional<std::string> missing_pyarrow(const std::string& format);

// From the folder of a column_spool into the files FOLDER/TABLE.FORMAT. The spool's columns are
// deleted as they are written. Why it did not work, in one sentence.
[[nodiscard]] std::optional<std::string> write_tables(const std::string& spool,
                                                      const std::string& folder,
                                                      const std::string& format,
                                                      const std::string& version);

}  // namespace memtrace::tables
