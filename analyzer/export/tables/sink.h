// SPDX-License-Identifier: Apache-2.0
//
// Where the rows of an export go: an SQLite file, or columns for Arrow and Parquet.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "analyzer/export/tables/schema.h"
#include "analyzer/export/tables/value.h"

namespace memtrace::tables {

class sink {
 public:
  virtual ~sink() = default;
  // One value a column of `to`, in its order; texts are copied. After a failure nothing happens.
  virtual void add(const table& to, std::span<const value> row) = 0;
  // After the last row. Why the rows are not there, in one sentence; none: they are.
  [[nodiscard]] virtual std::optional<std::string> finish() = 0;
};

}  // namespace memtrace::tables
