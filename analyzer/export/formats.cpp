// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats.h"

#include <algorithm>
#include <array>

#include "analyzer/export/speedscope.h"

namespace memtrace::exporting {

namespace {

constexpr std::array rows = {
    format_row{"speedscope", "speedscope.json", "flame graphs of who holds the memory, by category",
               "https://www.speedscope.app (or npx speedscope FILE)", true, false, make_speedscope},
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
