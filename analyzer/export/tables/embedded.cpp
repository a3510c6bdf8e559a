// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/embedded.h"

// Of embedded_bytes.S; each ends with a zero.
extern "C" {
extern const char memtrace_table_views[];
extern const char memtrace_write_tables[];
}

namespace memtrace::tables {

std::string_view views_text() {
  return memtrace_table_views;
}

std::string_view write_tables_text() {
  return memtrace_write_tables;
}

}  // namespace memtrace::tables
