// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/sample_plan.h"

#include "tests/unit/catch.h"

using memtrace::sampler::sample_plan;

namespace {

constexpr std::uint64_t millisecond = 1'000'000;
constexpr std::uint64_t second = 1'000 * millisecond;
constexpr std::uint64_t small = 1 << 30;  // bytes that are walked

struct run {
  std::uint64_t looks = 0, walks = 0, cost = 0;
};

run simulate(std::uint64_t length, std::uint64_t look_cost, std::uint64_t walk_cost) {
  sample_plan plan;
  run found;
  for (std::uint64_t now = 0; now < length; now += sample_plan::pause(now, look_cost)) {
    ++found.looks;
    found.cost += look_cost;
    if (!plan.walk_is_due(now, small)) continue;
    ++found.walks;
    found.cost += walk_cost;
    plan.walked(now, walk_cost);
  }
  return found;
}

}  // namespace

TEST_CASE("GIVEN a run of 3 s WHEN sampled THEN there are enough samples for a verdict") {
  const auto short_run = simulate(3 * second, millisecond / 20, 5 * millisecond);
  CHECK(short_run.looks >= 12);
  CHECK(short_run.looks <= 30);
  CHECK(short_run.walks >= 12);
}

TEST_CASE(
    "GIVEN long runs of any cost WHEN sampled THEN it takes a thousandth beyond the allowance") {
  for (const std::uint64_t walk_cost : {millisecond / 2, 5 * millisecond, 400 * millisecond}) {
    for (const std::uint64_t look_cost : {millisecond / 50, millisecond, 20 * millisecond}) {
      for (const std::uint64_t length : {30 * second, 600 * second, 10'000 * second}) {
        const auto whole = simulate(length, look_cost, walk_cost);
        // The first of each is taken before its cost is known.
        const auto allowed = sample_plan::allowance + sample_plan::beginning / 100 + length / 1000 +
                             walk_cost + look_cost;
        INFO(walk_cost << " " << look_cost << " " << length);
        CHECK(whole.cost <= allowed);
        CHECK(whole.walks >= 1);
      }
    }
  }
}

TEST_CASE(
    "GIVEN workers that come late WHEN sampled THEN they have a series of their own at once") {
  sample_plan plan;
  plan.walked(100 * second, millisecond);
  CHECK_FALSE(plan.walk_is_due(101 * second, small));
  plan.begin_series(101 * second);
  CHECK(plan.walk_is_due(101 * second, small));
  plan.walked(101 * second, millisecond);
  CHECK(plan.walk_is_due(101 * second + sample_plan::shortest_walk_pause, small));
}

TEST_CASE("GIVEN a budget that is spent WHEN workers come THEN it holds nevertheless") {
  sample_plan plan;
  plan.walked(second, sample_plan::allowance);
  plan.begin_series(2 * second);
  CHECK_FALSE(plan.walk_is_due(2 * second, small));
}

TEST_CASE("GIVEN a run of hours WHEN sampled THEN walks do not stop") {
  const auto hour = simulate(3600 * second, millisecond / 20, 20 * millisecond);
  const auto hours = simulate(7200 * second, millisecond / 20, 20 * millisecond);
  CHECK(hours.walks > hour.walks + 5);
}

TEST_CASE("GIVEN much resident memory WHEN a walk is due THEN it is not walked") {
  constexpr std::uint64_t gibibyte = 1ull << 30;
  const sample_plan plan;
  CHECK(plan.walk_is_due(second, 8 * gibibyte));
  CHECK_FALSE(plan.walk_is_due(second, 100 * gibibyte));
}
