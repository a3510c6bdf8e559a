// SPDX-License-Identifier: Apache-2.0
//
// The exports as tables: an SQLite file, or a folder with an Arrow or a Parquet file a table.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analyzer/export/formats/destination.h"
#include "analyzer/export/formats/formats.h"

namespace memtrace::exporting {

[[nodiscard]] std::unique_ptr<sink> make_sqlite(destination& to, const options& wanted);
[[nodiscard]] std::unique_ptr<sink> make_arrow(destination& to, const options& wanted);
[[nodiscard]] std::unique_ptr<sink> make_parquet(destination& to, const options& wanted);

// What this machine lacks for it, in one sentence with the remedy.
[[nodiscard]] std::optional<std::string> lacks_for_arrow(const options& wanted);
[[nodiscard]] std::optional<std::string> lacks_for_parquet(const options& wanted);

}  // namespace memtrace::exporting
