// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/base/text/utf8.h"
#include "analyzer/show/terminal/parts.h"

namespace memtrace::terminal {

namespace {

constexpr std::size_t most_captures = 3;

[[nodiscard]] std::string counted(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", text::format_count(count), one, count == 1 ? "" : "s");
}

}  // namespace

void add_graphs(text::page& out, const run::device_report& device) {
  const auto& graphs = device.graphs;
  if (graphs.count == 0) return;
  auto largest = graphs.all;
  std::ranges::stable_sort(largest, std::greater(),
                           [](const run::captured_graph& one) { return one.facts.most; });
  const bool is_all = largest.size() <= most_captures;
  if (!is_all) largest.resize(most_captures);
  out.line(fmt::format("CUDA graphs: {} got {} for {}{}", counted(graphs.count, "capture"),
                       text::format_bytes(graphs.added), counted(graphs.pools, "pool"),
                       is_all ? "" : fmt::format("; the {} largest:", most_captures)),
           text::emphasis::heading);
  for (const auto& one : largest) {
    out.line(fmt::format("  {:>11} in use at once, {} got for it  {}",
                         text::format_bytes(one.facts.most), text::format_bytes(one.facts.added),
                         text::printable(one.place)));
  }
}

}  // namespace memtrace::terminal
