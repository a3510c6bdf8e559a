// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/reading.h"

#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

// Steps until it is settled, with peaks that rise up to and including step `last_rise`; from 1.
[[nodiscard]] std::uint64_t steps_needed(std::uint64_t last_rise) {
  fit::settle seen;
  for (std::uint64_t step = 1; step < 1000; ++step) {
    const auto peak = std::min(step, last_rise);
    seen.end_step({peak, 0, 0});
    if (seen.is_settled()) return step;
  }
  return 0;
}

}  // namespace

TEST_CASE("Peaks have settled when three steps, and half of all, did not raise them") {
  CHECK(steps_needed(1) == 4);
  CHECK(steps_needed(2) == 5);
  CHECK(steps_needed(6) == 12);
  CHECK(steps_needed(40) == 50);  // ten are enough
}

TEST_CASE("What is reserved and what is outside of the pool count, too") {
  fit::settle seen;
  seen.end_step({1, 1, 0});
  seen.end_step({1, 1, 0});
  seen.end_step({1, 2, 0});
  seen.end_step({1, 2, 5});
  seen.end_step({1, 2, 5});
  seen.end_step({1, 2, 5});
  CHECK_FALSE(seen.is_settled());
  seen.end_step({1, 2, 5});
  CHECK_FALSE(seen.is_settled());  // half of seven is four
  seen.end_step({1, 2, 5});
  CHECK(seen.is_settled());
}
