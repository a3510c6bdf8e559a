// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/text/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/base/text/units.h"

namespace memtrace::text {

namespace {

constexpr std::uint64_t eighths = 8;  // of a row
// A run this many times shorter would be a sliver on the other's scale.
constexpr std::uint64_t too_short = 8;

struct column {
  std::uint64_t left = 0, peak = 0;  // eighths of a row
};

[[nodiscard]] std::uint64_t level(std::uint64_t bytes, std::uint64_t top, std::size_t rows) {
  if (bytes == 0 || top == 0) return 0;
  const auto exact =
      static_cast<double>(bytes) / static_cast<double>(top) * static_cast<double>(rows * eighths);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(exact + 0.5));
}

[[nodiscard]] std::uint64_t top_of(const chart_series& series) {
  std::uint64_t top = 0;
  for (const auto bytes : series.left) top = std::max(top, bytes);
  for (const auto bytes : series.peak) top = std::max(top, bytes);
  return top;
}

// Those that the series reaches, where `span` steps take the whole width.
[[nodiscard]] std::vector<column> columns_of(const chart_series& series, std::uint64_t span,
                                             std::uint64_t top, const chart_size& size) {
  std::vector<column> columns;
  if (series.left.empty()) return columns;
  for (std::size_t c = 0; c < size.columns; ++c) {
    const auto first = c * span / size.columns;
    if (first >= series.steps) break;
    const auto end =
        std::clamp<std::uint64_t>((c + 1) * span / size.columns, first + 1, series.steps);
    const auto from = std::min<std::size_t>(first / series.stride, series.left.size() - 1);
    const auto to = std::min<std::size_t>((end - 1) / series.stride, series.left.size() - 1);
    auto left = series.left[from];
    std::uint64_t peak = 0;
    for (auto i = from; i <= to; ++i) {
      left = std::min(left, series.left[i]);
      peak = std::max(peak, i < series.peak.size() ? series.peak[i] : series.left[i]);
    }
    columns.push_back({level(left, top, size.rows), level(peak, top, size.rows)});
  }
  return columns;
}

void append_cell(std::string& out, const column& value, std::size_t row) {
  constexpr std::array<std::string_view, eighths + 1> bars = {" ", "▁", "▂", "▃", "▄",
                                                              "▅", "▆", "▇", "█"};
  const auto floor = row * eighths;
  const auto above = [&](std::uint64_t part) {
    return part - std::min<std::uint64_t>(part, floor);
  };
  const auto left = std::min(above(value.left), eighths);
  const bool lighter = above(value.peak) >= eighths / 2;
  out += left == 0 && lighter ? std::string_view("░") : bars[left];
}

void append_panel(std::string& out, const std::vector<column>& columns, std::size_t row,
                  std::size_t width) {
  out += "┤";
  for (const auto& value : columns) append_cell(out, value, row);
  out.append(width - columns.size(), ' ');
}

// Bytes at the upper edge of a row; every other one has a label.
[[nodiscard]] std::string label_of(std::size_t row, std::uint64_t top, std::size_t rows) {
  if ((rows - 1 - row) % 2 != 0) return {};
  const auto bytes =
      static_cast<double>(top) * static_cast<double>(row + 1) / static_cast<double>(rows);
  return format_bytes(static_cast<std::uint64_t>(bytes));
}

}  // namespace

twin_chart draw_twin_chart(const chart_series& before, const chart_series& after,
                           const chart_size& size) {
  twin_chart chart;
  const auto top = std::max(top_of(before), top_of(after));
  if (before.left.empty() && after.left.empty()) return chart;
  const auto longest = std::max(before.steps, after.steps);
  const auto shortest = std::min(before.steps, after.steps);
  chart.one_step_scale = shortest == 0 || longest / shortest < too_short;
  const auto span = [&](const chart_series& series) {
    return chart.one_step_scale ? longest : series.steps;
  };
  const auto old_columns = columns_of(before, span(before), top, size);
  const auto new_columns = columns_of(after, span(after), top, size);
  constexpr std::size_t label_columns = 12;
  chart.label_columns = label_columns;
  for (auto row = size.rows; row-- > 0;) {
    auto line = fmt::format("{:>{}} ", label_of(row, top, size.rows), label_columns - 1);
    append_panel(line, old_columns, row, size.columns);
    line += "  ";
    append_panel(line, new_columns, row, size.columns);
    line.erase(line.find_last_not_of(' ') + 1);
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

}  // namespace memtrace::text
