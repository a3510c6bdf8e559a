// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/formats.h"

#include <algorithm>
#include <array>

#include "analyzer/export/formats/snapshot/snapshot.h"

namespace memtrace::exporting {

namespace {

constexpr std::array rows = {
    format_row{"perfetto", "pftrace",
               "counters over time by category, steps, phases, modules, the largest blocks",
               "https://ui.perfetto.dev", true, false, make_perfetto},
    format_row{"pprof", "pb.gz", "a heap profile: the peak, what grows, a moment, all allocations",
               "go tool pprof -http=: FILE", true, false, make_pprof},
    format_row{"speedscope", "speedscope.json", "flame graphs of who holds the memory, by category",
               "https://www.speedscope.app (or npx speedscope FILE)", true, false, make_speedscope},
    format_row{"snapshot", "pickle", "a PyTorch memory snapshot, its blocks coloured by category",
               "https://pytorch.org/memory_viz", false, false, make_snapshot},
    format_row{"sqlite", "db", "a database: events, blocks, steps, verdicts, …, and views to ask",
               "sqlite3 FILE, or any SQLite viewer", true, false, make_sqlite},
    format_row{"arrow", "arrow", "a folder with an Arrow file a table (needs pip install pyarrow)",
               "pandas.read_feather, polars.read_ipc", true, true, make_arrow, lacks_for_arrow},
    format_row{"parquet", "parquet",
               "a folder with a Parquet file a table (needs pip install pyarrow)",
               "DuckDB, pandas, polars, Spark", true, true, make_parquet, lacks_for_parquet},
};

}  // namespace

std::span<const format_row> formats() {
  return rows;
}

const format_row* format_named(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &format_row::name);
  return found == rows.end() ? nullptr : &*found;
}

std::string format_names() {
  std::string names;
  for (const auto& row : rows) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

}  // namespace memtrace::exporting
