// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/series.h"

#include "tests/unit/analyzer/base/statistics/hand_made.h"
#include "tests/unit/catch.h"

using memtrace::growth::series;

namespace {

series filled(const hand_made::series& values, std::size_t windows = 512) {
  series all(windows);
  for (const auto value : values) all.add(value);
  return all;
}

}  // namespace

TEST_CASE("a short series is kept exactly, but for its ends") {
  const auto all = filled(hand_made::of(100, [](auto k) { return k * k; }));
  CHECK(all.steps() == 100);
  CHECK(all.width() == 1);
  REQUIRE(all.windows().size() == 98);
  CHECK(all.windows()[0].floor == 1);
  CHECK(all.windows()[97].floor == 98 * 98);
  CHECK(all.windows()[97].largest_rise == 98 * 98 - 97 * 97);
}

TEST_CASE("a long series takes bounded memory and loses no step, no extreme, no rise") {
  const auto all = filled(hand_made::of(100'000, [](auto k) { return k % 1000; }), 64);
  CHECK(all.windows().size() <= 64);
  CHECK(all.windows().size() >= 32);
  double steps = 0, up = 0, down = 0, top = 0, floor = 1e9, sum = 0;
  for (const auto& one : all.windows()) {
    steps += one.steps;
    up += one.up;
    down += one.down;
    sum += one.sum;
    top = std::max(top, one.top);
    floor = std::min(floor, one.floor);
  }
  CHECK(steps == 99'998);
  CHECK(top == 999);
  CHECK(floor == 0);
  CHECK(down == 99 * 999);
  CHECK(up == 99 * 999 + 998 - 1);          // from 1 to 998 of the last tooth
  CHECK(sum == 100 * 499'500.0 - 0 - 999);  // all but the first and the last value
}

TEST_CASE("a lone spike becomes its nearer neighbour; ramps, jumps and short teeth stay") {
  const auto floors = [](const hand_made::series& values) {
    std::vector<double> found;
    const auto all = filled(values);
    for (const auto& one : all.windows()) found.push_back(one.floor);
    return found;
  };
  CHECK(floors({5, 5, 900, 6, 6}) == std::vector<double>{5, 6, 6});
  CHECK(floors({500, 500, 9, 501, 501}) == std::vector<double>{500, 500, 501});
  CHECK(floors({1, 2, 3, 4, 5}) == std::vector<double>{2, 3, 4});
  CHECK(floors({1, 1, 9, 9, 9}) == std::vector<double>{1, 9, 9});
  CHECK(floors({0, 1, 2, 3, 0, 1, 2}) == std::vector<double>{1, 2, 3, 0, 1});
}

TEST_CASE("values added many at a time are as if added one by one") {
  for (const std::size_t windows : {64, 512}) {
    series one_by_one(windows), at_once(windows);
    const std::uint64_t runs[][2] = {{0, 1},       {512, 2},  {512, 3},  {1024, 1},   {512, 1},
                                     {4096, 5000}, {0, 700},  {1536, 1}, {1536, 1},   {2048, 40},
                                     {512, 1},     {2048, 9}, {0, 1},    {512, 9000}, {1024, 4}};
    for (const auto& [bytes, times] : runs) {
      at_once.add(bytes, times);
      for (std::uint64_t i = 0; i < times; ++i) one_by_one.add(bytes);
      REQUIRE(at_once.windows().size() == one_by_one.windows().size());
    }
    CHECK(at_once.steps() == one_by_one.steps());
    CHECK(at_once.width() == one_by_one.width());
    for (std::size_t i = 0; i < at_once.windows().size(); ++i) {
      const auto& a = at_once.windows()[i];
      const auto& b = one_by_one.windows()[i];
      CHECK(a.floor == b.floor);
      CHECK(a.top == b.top);
      CHECK(a.sum == b.sum);
      CHECK(a.up == b.up);
      CHECK(a.down == b.down);
      CHECK(a.largest_fall == b.largest_fall);
      CHECK(a.steps == b.steps);
      CHECK(a.rises == b.rises);
    }
  }
}
