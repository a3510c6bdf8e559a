// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/text/chart.h"

#include <string>

#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

constexpr std::uint64_t MiB = 1 << 20;

// Without the labels: what each panel shows, row by row.
[[nodiscard]] std::vector<std::string> panels(const text::twin_chart& chart) {
  std::vector<std::string> rows;
  for (const auto& line : chart.lines) rows.push_back(line.substr(chart.label_columns));
  return rows;
}

using rows = std::vector<std::string>;

}  // namespace

TEST_CASE("GIVEN a series that climbs and one that does not WHEN drawn THEN both have one scale") {
  const text::chart_series climbs{4, 1, {MiB, 2 * MiB, 3 * MiB, 4 * MiB}, {}};
  const text::chart_series flat{2, 1, {MiB, MiB}, {}};
  const auto chart = text::draw_twin_chart(climbs, flat, {2, 4});
  CHECK(chart.one_step_scale);
  CHECK(panels(chart) == rows{"┤  ▄█  ┤", "┤▄███  ┤▄▄"});
  CHECK(chart.lines[0].starts_with("      4 MiB "));
}

TEST_CASE("GIVEN peaks above what stays WHEN drawn THEN they are lighter") {
  const text::chart_series both{2, 1, {MiB, MiB}, {4 * MiB, 2 * MiB}};
  const auto chart = text::draw_twin_chart(both, {}, {4, 2});
  CHECK(panels(chart) == rows{"┤░   ┤", "┤░   ┤", "┤░░  ┤", "┤██  ┤"});
}

TEST_CASE("GIVEN little beside much WHEN drawn THEN it is not nothing") {
  const text::chart_series tiny{1, 1, {1}, {}};
  const text::chart_series large{1, 1, {1000 * MiB}, {}};
  CHECK(panels(text::draw_twin_chart(tiny, large, {1, 1})) == rows{"┤▁  ┤█"});
  const text::chart_series none{1, 1, {0}, {}};
  CHECK(panels(text::draw_twin_chart(none, large, {1, 1})) == rows{"┤   ┤█"});
}

TEST_CASE("GIVEN a run many times shorter WHEN drawn THEN it has a scale of its own") {
  const text::chart_series brief{2, 1, {MiB, 2 * MiB}, {}};
  text::chart_series lasting{100, 2, {}, {}};
  lasting.left.assign(50, 2 * MiB);
  const auto chart = text::draw_twin_chart(brief, lasting, {1, 4});
  CHECK_FALSE(chart.one_step_scale);
  CHECK(panels(chart) == rows{"┤▄▄██  ┤████"});
}

TEST_CASE("GIVEN no values WHEN drawn THEN there is no picture") {
  CHECK(text::draw_twin_chart({}, {}).lines.empty());
}
