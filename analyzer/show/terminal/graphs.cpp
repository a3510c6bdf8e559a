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
  const auto got = graphs.added == 0
                       ? std::string()
                       : fmt::format(", {} got for them", text::format_bytes(graphs.added));
  out.line(fmt::format("CUDA graphs: {} in {}{}{}", counted(graphs.count, "capture"),
                       counted(graphs.pools, "pool"), got,
                       is_all ? "" : fmt::format("; the {} largest:", most_captures)),
           text::emphasis::heading);
  for (const auto& one : largest) {
    const auto anew = one.facts.added == 0 ? std::string("in what the pool had")
                                           : text::format_bytes(one.facts.added) + " got for it";
    out.line(fmt::format("  {:>11} in use at once, {}  {}", text::format_bytes(one.facts.most),
                         anew, text::printable(one.place)));
  }
}

}  // namespace memtrace::terminal
