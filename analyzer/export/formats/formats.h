// SPDX-License-Identifier: Apache-2.0
//
// The formats that `memtrace export` knows, a row each. A new one is a file of its own with a
// function that makes its sink, and a row in formats.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/export/formats/destination.h"
#include "analyzer/export/formats/sink.h"

namespace memtrace::exporting {

struct options {
  std::size_t top = 0;        // --top: how many of the largest; 0: not asked for, the format's own
  std::string version;        // of memtrace
  std::size_t processes = 1;  // that will be told
};

struct format_row {
  std::string_view name;       // --format
  std::string_view extension;  // of the name that a file gets without -o
  std::string_view what;       // for --help: what is in it
  std::string_view open_with;  // follows "open it with "
  bool several = false;        // several processes fit into one file
  bool is_folder = false;
  std::unique_ptr<sink> (*make)(destination& to, const options& wanted) = nullptr;
  // Why this machine cannot write it, in one sentence with the remedy: asked before a trace is
  // read.
  std::optional<std::string> (*lacks)(const options& wanted) = nullptr;
};

[[nodiscard]] std::span<const format_row> formats();
[[nodiscard]] const format_row* format_named(std::string_view name);  // null: there is none
[[nodiscard]] std::string format_names();                             // "perfetto, pprof, …"

[[nodiscard]] std::unique_ptr<sink> make_perfetto(destination& to, const options& wanted);

[[nodiscard]] std::unique_ptr<sink> make_pprof(destination& to, const options& wanted);

[[nodiscard]] std::unique_ptr<sink> make_speedscope(destination& to, const options& wanted);

[[nodiscard]] std::unique_ptr<sink> make_sqlite(destination& to, const options& wanted);
[[nodiscard]] std::unique_ptr<sink> make_arrow(destination& to, const options& wanted);
[[nodiscard]] std::unique_ptr<sink> make_parquet(destination& to, const options& wanted);

// Why this machine cannot write it, in one sentence with the remedy.
[[nodiscard]] std::optional<std::string> lacks_for_arrow(const options& wanted);
[[nodiscard]] std::optional<std::string> lacks_for_parquet(const options& wanted);

}  // namespace memtrace::exporting
