// SPDX-License-Identifier: Apache-2.0
//
// The Python that does what is done by Python: MEMTRACE_PYTHON, which the installed memtrace sets
// to its own, else python3.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace memtrace::tables {

[[nodiscard]] std::string interpreter();

// The environment of this process for it, as NAME=value, so that nothing is recorded in it.
[[nodiscard]] std::vector<std::string> unrecorded_environment();

// As exec takes them, with a null behind; good while `of` is.
[[nodiscard]] std::vector<char*> pointers(std::vector<std::string>& of);

// The Python with pyarrow that writes Arrow and Parquet files (write_tables.py).

// Why there is none, in one sentence with the remedy; none: there is one.
[[nodiscard]] std::optional<std::string> missing_pyarrow(const std::string& format);

// From the folder of a column_spool into the files FOLDER/TABLE.FORMAT. The spool's columns are
// deleted as they are written. Why it did not work, in one sentence.
[[nodiscard]] std::optional<std::string> write_tables(const std::string& spool,
                                                      const std::string& folder,
                                                      const std::string& format,
                                                      const std::string& version);

}  // namespace memtrace::tables
