// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "analyzer/judge/verdicts/collector.h"
#include "analyzer/judge/verdicts/device_series.h"
#include "analyzer/judge/verdicts/site_history.h"
#include "analyzer/judge/verdicts/timeline.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::verdicts;

namespace {

void check_equal(const growth::series& a, const growth::series& b) {
  REQUIRE(a.windows().size() == b.windows().size());
  CHECK(a.steps() == b.steps());
  CHECK(a.first_bytes() == b.first_bytes());
  for (std::size_t i = 0; i < a.windows().size(); ++i) {
    CHECK(a.windows()[i].floor == b.windows()[i].floor);
    CHECK(a.windows()[i].sum == b.windows()[i].sum);
    CHECK(a.windows()[i].up == b.windows()[i].up);
    CHECK(a.windows()[i].steps == b.windows()[i].steps);
  }
}

}  // namespace

TEST_CASE("GIVEN few and many changes WHEN a sparse series is filled THEN no step is lost") {
  for (const std::uint64_t every : {1, 3, 40}) {
    sparse_series sparse(512);
    growth::series plain(128);
    std::uint64_t value = 512;
    for (std::uint64_t step = 0; step < 1'000; ++step) {
      const bool changes = step % every == 0;
      plain.add(changes ? value - 512 : value);
      if (!changes) continue;
      sparse.set(step, value - 512, value + 1024);
      value += 1024;
    }
    CHECK(sparse.latest() == value);
    check_equal(sparse.first(1'000), plain);
  }
}

TEST_CASE("GIVEN blocks of several steps WHEN they die THEN the steps with live ones are counted") {
  generations births;
  for (std::uint64_t step = 0; step < 100; ++step) {
    births.born(step);
    births.born(step);
  }
  CHECK(births.count() == 100);
  births.died(7);
  CHECK(births.count() == 100);
  for (std::uint64_t step = 0; step < 99; ++step) births.died(step);
  CHECK(births.count() == 100 - 1);
  births.died(99);
  births.died(99);
  CHECK(births.count() == 98);
}

TEST_CASE("GIVEN births every so many steps THEN their distances are even until one is overdue") {
  const auto births_at = [](std::vector<std::uint64_t> steps) {
    generations births;
    for (const auto step : steps) births.born(step);
    return births;
  };
  CHECK(births_at({1, 5, 10, 15, 20, 25}).at_even_distances(30));
  CHECK(!births_at({1, 5, 10, 15, 20, 25}).at_even_distances(32));
  CHECK(births_at({1, 4, 8, 12, 17, 21}).at_even_distances(24));
  CHECK(!births_at({1, 2, 3, 5, 6, 9, 10}).at_even_distances(11));
  CHECK(!births_at({1, 9}).at_even_distances(12));
}

TEST_CASE("GIVEN a site that streams WHEN steps end THEN it has no history but its name") {
  site_book book;
  for (int step = 0; step < 50; ++step) {
    auto& page = book.touch(3, {0, 0});
    page.now = {512, 1};
    page.births.born(static_cast<std::uint64_t>(step));
    book.touch(3, {512, 1}).now = {0, 0};
    page.births.died(static_cast<std::uint64_t>(step));
    book.end_step();
  }
  REQUIRE(book.pages().size() == 1);
  CHECK(book.pages()[0].series.latest() == 0);
  CHECK(book.pages()[0].births_at.empty());
  CHECK(book.steps() == 50);
}

TEST_CASE("GIVEN lives of categories WHEN summed THEN each step has what was alive at its end") {
  category_series series;
  series.lived(attribution::category::outputs, 10, 0, 3);
  series.lived(attribution::category::outputs, 5, 2, 4);
  CHECK(series.of(attribution::category::outputs, 5) ==
        std::vector<std::uint64_t>{10, 10, 15, 5, 0});
  CHECK(series.of(attribution::category::inputs, 2) == std::vector<std::uint64_t>{0, 0});
}

TEST_CASE("GIVEN a long series WHEN thinned THEN at most 64 values stand for it") {
  thinned_series shown;
  for (std::uint64_t step = 0; step < 1'000; ++step) shown.add(step, 1);
  const auto& found = shown.shown();
  CHECK(found.bytes.size() <= 64);
  CHECK(found.bytes.size() >= 32);
  for (std::size_t i = 0; i < found.bytes.size(); ++i) CHECK(found.bytes[i] == i * found.stride);
}

TEST_CASE("GIVEN step ends WHEN a birth is looked up THEN its step is the one that it lies in") {
  step_clock clock;
  CHECK_FALSE(clock.crossed(3));
  clock.end_step(10, 1'000);
  clock.end_step(20, 3'000);
  CHECK(clock.step_of(3) == 0);
  CHECK(clock.step_of(10) == 1);
  CHECK(clock.step_of(25) == 2);
  CHECK(clock.crossed(15));
  CHECK_FALSE(clock.crossed(20));
  CHECK(clock.ns_per_step() == 2'000);
}

TEST_CASE(
    "GIVEN requests that need new segments WHEN asked THEN the lines share what they reserved") {
  segment_makers makers;
  attribution::block_life block;
  makers.born(1, block, 64 << 20, 0);   // the first steps' need
  makers.born(1, block, 64 << 20, 10);  // fits
  makers.born(2, block, 94 << 20, 11);
  makers.born(1, block, 84 << 20, 12);  // after some was given back
  makers.born(1, block, 94 << 20, 13);
  const auto found = makers.suspects(4'000);
  REQUIRE(found.size() == 2);
  CHECK(found[0].site == 2);
  CHECK(found[0].bytes == 30 << 20);
  CHECK(found[0].bytes_per_step == 3'000);
  CHECK(found[1].share == 0.25);
}

TEST_CASE("GIVEN what takes turns WHEN one comes again THEN a round begins") {
  rounds turns;
  std::string begun;
  for (const char one : std::string("DGDGDDG")) {
    const auto number = static_cast<std::uint32_t>(one);
    begun += turns.begins(trace::object_id{number}) ? one : '.';
  }
  CHECK(begun == "D.D.DD.");
  CHECK(turns.begins(trace::object_id{1}, true));
}
