// SPDX-License-Identifier: Apache-2.0
//
// The short version of the study (tests/answers/statistics): held-out seeds, on which nothing was tuned.
#include "tests/answers/statistics/generator.h"
#include "tests/answers/statistics/study_report.h"
#include "tests/unit/catch.h"

TEST_CASE("on held-out series 95 % of the leaks are found, at no more than 2 % false alarms") {
  const auto seen = study::run({.series = 300, .held_out = true, .list_misses = false});
  const auto rates = study::rates_of(seen);
  CHECK(rates.leaks == 900);
  CHECK(rates.harmless == 1200);
  CHECK(rates.recall() >= 0.95);
  CHECK(rates.false_positives() <= 0.02);
}

TEST_CASE("a verdict does not depend on what else is in memory") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (std::size_t shape = 0; shape < synthetic::truths; ++shape) {
      auto one = synthetic::draw(static_cast<synthetic::truth>(shape), seed);
      if (one.bytes.size() > 5000) continue;
      const auto before = memtrace::growth::judge(one.bytes);
      for (auto& value : one.bytes) value += std::uint64_t{96} << 30U;
      CAPTURE(seed, shape);
      CHECK(memtrace::growth::judge(one.bytes).shape == before.shape);
    }
  }
}
