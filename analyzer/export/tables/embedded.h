// SPDX-License-Identifier: Apache-2.0
//
// Files of this folder that are in the command, as text.
#pragma once

#include <string_view>

namespace memtrace::tables {

[[nodiscard]] std::string_view views_text();         // views.sql
[[nodiscard]] std::string_view write_tables_text();  // write_tables.py

}  // namespace memtrace::tables
