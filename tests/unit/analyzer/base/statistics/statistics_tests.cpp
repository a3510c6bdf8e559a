// SPDX-License-Identifier: Apache-2.0
//
// The statistics against values worked out by hand from their formulas.
#include <cmath>

#include "analyzer/base/statistics/laws.h"
#include "analyzer/base/statistics/level_changes.h"
#include "analyzer/base/statistics/points.h"
#include "tests/unit/catch.h"

using namespace memtrace::growth;

namespace {

std::vector<point> points(const std::vector<double>& bytes) {
  std::vector<point> all;
  for (const double value : bytes) all.push_back({static_cast<double>(all.size()), value});
  return all;
}

std::vector<jump> jumps_at(const std::vector<double>& steps) {
  std::vector<jump> all;
  for (const double step : steps) all.push_back({step, 100});
  return all;
}

}  // namespace

TEST_CASE("Mann-Kendall: ten rising values") {
  // S = 45, Var = 10·9·25/18 = 125, z = 44/√125
  CHECK(trend_of(points({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})).z == Approx(44 / std::sqrt(125.0)));
  CHECK(trend_of(points({10, 9, 8, 7, 6, 5, 4, 3, 2, 1})).z == Approx(-44 / std::sqrt(125.0)));
}

TEST_CASE("Mann-Kendall: ties shrink the variance") {
  // S = 4, Var = (4·3·13 - 2 · 2·1·9)/18 = 20/3
  CHECK(trend_of(points({1, 1, 2, 2})).z == Approx(3 / std::sqrt(20.0 / 3)));
  CHECK(trend_of(points({7, 7, 7, 7})).z == 0);
}

TEST_CASE("Mann-Kendall: autocorrelation widens the variance") {
  // S = 3, Var = 3·2·11/18 = 11/3; n/n* = 1 + 2 (2/3 · 1/2 + 1/3 · 1/4) = 11/6
  CHECK(trend_of(points({1, 2, 3}), 0.5).z == Approx(2 / std::sqrt(11.0 / 3 * 11 / 6)));
  CHECK(trend_of(points({1, 2, 3}), -0.5).z == Approx(2 / std::sqrt(11.0 / 3)));
}

TEST_CASE("Theil-Sen: a wild value does not move the slope") {
  const auto found = trend_of(points({0, 1, 2, 100, 4}));
  CHECK(found.slope == Approx(1));
  CHECK(found.low <= 1);
  CHECK(found.high >= 1);
}

TEST_CASE("lag-1 autocorrelation") {
  const std::vector<double> alternating{1, -1, 1, -1};
  CHECK(lag_one(alternating) == Approx(-0.75));  // -3 of 4
  const std::vector<double> flat{3, 3, 3};
  CHECK(lag_one(flat) == 0);
}

TEST_CASE("change points: where the level changes, and not where it does not") {
  const auto found = segments_of(points({0, 0, 0, 0, 0, 50, 50, 50, 50, 20, 20, 20}), 1);
  CHECK(found.starts == std::vector<std::size_t>{0, 5, 9});
  CHECK(found.means == std::vector<double>{0, 50, 20});
  CHECK(found.squared_error == Approx(0).margin(1e-9));
  CHECK(segments_of(points({5, 5, 5, 5, 5}), 1).jumps() == 0);
}

TEST_CASE("lasting rises leave out what comes and goes") {
  const auto series = points({0, 0, 0, 90, 90, 90, 30, 30, 30, 95, 95, 95, 60, 60, 60});
  const auto rises = lasting_rises(segments_of(series, 1), series);
  REQUIRE(rises.size() == 2);
  CHECK(rises[0].bytes == 30);
  CHECK(rises[0].step == 2.5);
  CHECK(rises[1].bytes == 30);
  CHECK(rises[1].step == 8.5);
}

TEST_CASE("jumps: evenly spaced ones keep coming, doubling ones get rarer") {
  CHECK(process_of(jumps_at({200, 300, 400, 500, 600, 700, 800, 900}), 100, 1000).log_odds > 3);
  CHECK(process_of(jumps_at({120, 240, 480}), 100, 1000).log_odds < 3);
  const std::vector<jump> shrinking{{120, 100}, {240, 60}, {480, 20}};
  CHECK(process_of(shrinking, 100, 1000).log_odds < 0);
}

TEST_CASE("jumps: the silence since the last one") {
  const auto found = process_of(jumps_at({200, 300, 400}), 100, 1000);
  CHECK(found.rises == 3);
  CHECK(found.silence == Approx(6));  // 600 steps after waits of 100
  CHECK(found.silent_share == Approx(600.0 / 900));
  CHECK(found.usual_wait == Approx(100));
}

TEST_CASE("curves: the law that made the points fits best") {
  std::vector<double> line, ended, late, saturating;
  for (int i = 0; i < 100; ++i) {
    const double x = i / 99.0, wiggle = (i * 7 % 5 - 2) * 2.0;
    line.push_back(1000 * x + wiggle);
    ended.push_back(1000 * std::min(1.0, x / 0.4) + wiggle);
    late.push_back(1000 * std::max(0.0, x - 0.5) + wiggle);
    saturating.push_back(1000 * (1 - std::exp(-x / 0.16)) + wiggle);
  }
  CHECK(compare_curves(points(line), 1).best.follows == law::linear);
  CHECK(compare_curves(points(line), 1).best.rise == Approx(1000).epsilon(0.02));
  const auto stopped = compare_curves(points(ended), 1).best;
  CHECK(stopped.follows == law::ended_ramp);
  CHECK(stopped.to == Approx(0.4));
  const auto begun = compare_curves(points(late), 1).best;
  CHECK(begun.follows == law::late_start);
  CHECK(begun.from == Approx(0.5));
  CHECK(compare_curves(points(saturating), 1).best.follows == law::saturating);
  CHECK(compare_curves(points(std::vector<double>(50, 3.0)), 1).best.follows == law::constant);
}

TEST_CASE("stray points take the median around them") {
  const auto cleaned =
      without_strays(points({1, 2, 3, 4, 5, 9000, 7, 8, 9, 10, 11, 12, 13, 14}), 2);
  CHECK(cleaned[5].bytes < 20);
  CHECK(cleaned[4].bytes == 5);
}
