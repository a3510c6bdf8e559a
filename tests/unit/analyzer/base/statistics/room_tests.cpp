// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/judge.h"
#include "tests/unit/catch.h"

using memtrace::growth::room;
using memtrace::growth::steps_to_oom;

TEST_CASE("steps to out of memory: what is left after the floor and a step's peak") {
  const room left{.capacity_bytes = 100, .floor_bytes = 40, .peak_above_floor_bytes = 30};
  CHECK(steps_to_oom(10, left) == 3U);
  CHECK(steps_to_oom(11, left) == 2U);
  CHECK(steps_to_oom(31, left) == 0U);
}

TEST_CASE("steps to out of memory: none left") {
  CHECK(steps_to_oom(1, {.capacity_bytes = 100, .floor_bytes = 80, .peak_above_floor_bytes = 21}) ==
        0U);
}

TEST_CASE("steps to out of memory: no answer without growth or without a capacity") {
  const room left{.capacity_bytes = 100, .floor_bytes = 0, .peak_above_floor_bytes = 0};
  CHECK_FALSE(steps_to_oom(0, left).has_value());
  CHECK_FALSE(steps_to_oom(-5, left).has_value());
  CHECK_FALSE(steps_to_oom(5, room{}).has_value());
}

TEST_CASE("steps to out of memory: a tiny rate stays a number") {
  const room left{.capacity_bytes = std::uint64_t{1} << 40U};
  CHECK(steps_to_oom(1e-300, left) > 1'000'000'000'000U);
}
