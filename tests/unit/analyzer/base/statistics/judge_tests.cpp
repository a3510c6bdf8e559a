// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tests/unit/analyzer/base/statistics/hand_made.h"
#include "tests/unit/catch.h"

using namespace hand_made;
using memtrace::growth::is_leak;
using memtrace::growth::judge;
using memtrace::growth::judgement;
using memtrace::growth::shape;

namespace {

bool holds(const judgement& given, double rate) {
  return given.bytes_per_step_low <= rate && rate <= given.bytes_per_step_high;
}

}  // namespace

TEST_CASE("memory that never changes is steady") {
  for (const std::uint64_t steps : {12, 100, 3000}) {
    const auto given = judge(of(steps, [](auto) { return 5 * gib; }));
    CHECK(given.shape == shape::steady);
    CHECK(given.bytes_per_step == 0);
    CHECK(given.more_steps_needed == 0);
  }
}

TEST_CASE("what fills and empties is told with figures only where windows tell the teeth apart") {
  using memtrace::growth::fill_words;
  const auto tooth = [](std::uint64_t steps, std::uint64_t length) {
    const auto given = judge(of(steps, [&](auto k) { return gib + (k % length) * 10 * mib; }));
    REQUIRE(given.shape == shape::sawtooth);
    return fill_words(given.evidence, "step");
  };
  CHECK(tooth(160, 40) == "fills by 390 MiB in about 40 steps and empties");
  CHECK(tooth(6000, 7) ==
        "fills and empties over 6,000 steps");  // a window has twelve steps or more
}

TEST_CASE("fewer than ten steps tell nothing, and say how many are missing") {
  const auto given = judge(of(7, [](auto k) { return k * mib; }));
  CHECK(given.shape == shape::unknown);
  CHECK(given.more_steps_needed == 3);
  CHECK(given.overturned_by.find("3 more steps") != std::string::npos);
  CHECK(judge(std::vector<std::uint64_t>{}).shape == shape::unknown);
}

TEST_CASE("a leak is found from 512 bytes to 1 GiB a step, in 10 to 100,000 steps") {
  const std::uint64_t rate = GENERATE(512, 40 * kib, 3 * mib, gib);
  const std::uint64_t steps = GENERATE(10, 12, 40, 100, 5000, 100'000);
  CAPTURE(rate, steps);
  const auto given = judge(of(steps, [&](auto k) { return 7 * gib + k * rate; }));
  CHECK(given.shape == shape::accumulating);
  CHECK(given.bytes_per_step == Approx(static_cast<double>(rate)));
  CHECK(holds(given, static_cast<double>(rate)));
}

TEST_CASE("what fills step by step and then stands still for a quarter of the run has ended") {
  const std::uint64_t full = GENERATE(10, 14, 16);
  CAPTURE(full);
  const auto table = judge(of(22, [&](auto k) { return gib + std::min(k, full) * 64 * kib; }));
  CHECK(table.shape == shape::warmup_plateau);
}

TEST_CASE("a buffer that is emptied once or twice fills and empties") {
  const std::uint64_t steps = GENERATE(24, 38);  // 14 steps a round
  CAPTURE(steps);
  CHECK(judge(of(steps, [](auto k) { return gib + k % 14 * mib; })).shape == shape::sawtooth);
}

TEST_CASE("a leak beside something that is let go once or twice is a leak still") {
  // It was there from the beginning: nothing had risen by as much before it went.
  const auto once = judge(of(40, [](auto k) { return (k < 20 ? 2 * gib : gib) + k * mib; }));
  CHECK(once.shape == shape::accumulating);
  const auto twice = judge(of(60, [](auto k) {
    return (k < 20 ? 3 * gib : k < 40 ? 2 * gib : gib) + k * mib;
  }));
  CHECK(twice.shape == shape::accumulating);
}

TEST_CASE("a pause no longer than those before it ends nothing") {
  const auto each = judge(of(40, [](auto k) { return gib + k / 5 * mib; }));
  CHECK(each.shape == shape::stepwise);
  const auto bursts = judge(
      of(44, [](auto k) { return gib + (k / 12 * 6 + std::min<std::uint64_t>(k % 12, 6)) * mib; }));
  CHECK(is_leak(bursts.shape));
}

TEST_CASE("512 bytes a step show beside gibibytes of batches that come and go") {
  const std::uint64_t steps = GENERATE(120, 1000, 30'000);
  CAPTURE(steps);
  const auto leaking = judge(of(steps, [](auto k) { return gib + batch_at(k) + k * 512; }));
  CHECK(leaking.shape == shape::accumulating);
  CHECK(leaking.bytes_per_step == Approx(512).epsilon(0.1));
  const auto streaming = judge(of(steps, [](auto k) { return gib + batch_at(k); }));
  CHECK(streaming.shape == shape::steady);
}

TEST_CASE("a leak too slow to matter is said to be negligible") {
  const auto series = of(400, [](auto k) { return gib + k / 10 * 512; });
  CHECK(judge(series).negligible);
  CHECK_FALSE(judge(of(400, [](auto k) { return gib + k * mib; })).negligible);
}

TEST_CASE("a warm-up that ends is no leak") {
  // Optimizer state at the first step.
  CHECK(judge(of(200, [](auto k) { return k == 0 ? gib : 3 * gib; })).shape ==
        shape::warmup_plateau);
  // A cache that fills evenly until the middle.
  CHECK(judge(of(200, [](auto k) { return gib + std::min<std::uint64_t>(k, 100) * mib; })).shape ==
        shape::warmup_plateau);
  // A cache that misses less and less.
  CHECK(judge(of(1000, [](auto k) {
          return gib + std::floor(1000 * (1 - std::exp(-static_cast<double>(k) / 150))) * mib;
        })).shape == shape::warmup_plateau);
  // Layers unfrozen once, late.
  const auto unfrozen = judge(of(300, [](auto k) { return k < 200 ? gib : 2 * gib; }));
  CHECK(unfrozen.shape == shape::warmup_plateau);
  REQUIRE(unfrozen.changes.size() == 1);
  CHECK(unfrozen.changes[0].step == 200);
  CHECK(unfrozen.changes[0].bytes == static_cast<std::int64_t>(gib));
}

TEST_CASE("a leak goes on under a single large shift, up or down") {
  const bool up = GENERATE(true, false);
  const auto given =
      judge(of(400, [&](auto k) { return 8 * gib + k * kib + ((k >= 250) == up ? 2 * gib : 0); }));
  CHECK(given.shape == shape::accumulating);
  CHECK(given.bytes_per_step == Approx(1024).epsilon(0.05));
  REQUIRE(given.changes.size() == 1);
  CHECK(given.changes[0].step == 250);
}

TEST_CASE("jumps that keep coming are a leak by steps") {
  const auto given = judge(of(1000, [](auto k) { return gib + k / 100 * 50 * mib; }));
  CHECK(given.shape == shape::stepwise);
  CHECK(given.bytes_per_step == Approx(0.5 * static_cast<double>(mib)).epsilon(0.15));
  CHECK(given.evidence.jumps >= 8);
}

TEST_CASE("jumps that are given back before the end are no leak, though they keep coming") {
  // Workers that hold a request each, of any size, for a while: until a step, so many bytes.
  constexpr std::array<std::pair<std::uint64_t, std::uint64_t>, 10> held = {{{11, 0},
                                                                             {25, 34304},
                                                                             {34, 45568},
                                                                             {44, 66560},
                                                                             {66, 113664},
                                                                             {78, 96768},
                                                                             {88, 0},
                                                                             {89, 62464},
                                                                             {90, 118784},
                                                                             {100, 139264}}};
  const auto given = judge(of(100, [&](auto k) {
    return std::ranges::find_if(held, [&](const auto& one) { return k < one.first; })->second;
  }));
  CHECK_FALSE(is_leak(given.shape));
}

TEST_CASE("jumps at doubling steps are records, and no leak") {
  const auto given = judge(of(5000, [](auto k) {
    return gib + static_cast<std::uint64_t>(std::log2(static_cast<double>(k + 1))) * 100 * mib;
  }));
  CHECK(given.shape == shape::bounded_records);
}

TEST_CASE("a sawtooth that returns to its floor is no leak, and one whose floor rises is") {
  const std::uint64_t period = GENERATE(5, 25, 90);
  CAPTURE(period);
  const auto flat = judge(of(1800, [&](auto k) { return gib + k % period * 10 * mib; }));
  CHECK(flat.shape == shape::sawtooth);
  const auto rising =
      judge(of(1800, [&](auto k) { return gib + k % period * 10 * mib + k / period * 64 * kib; }));
  CHECK(rising.shape == shape::sawtooth_leak);
  const double rate = 64.0 * static_cast<double>(kib) / static_cast<double>(period);
  CHECK(rising.bytes_per_step == Approx(rate).epsilon(0.05));
}

TEST_CASE("evaluations with their own memory hide neither a leak nor its absence") {
  const auto evaluation = [](auto k) { return k % 50 >= 40 ? 6 * gib : 0; };
  CHECK(judge(of(1000, [&](auto k) { return gib + evaluation(k); })).shape == shape::steady);
  const auto given = judge(of(1000, [&](auto k) { return gib + evaluation(k) + k * 4 * kib; }));
  CHECK(given.shape == shape::accumulating);
  CHECK(given.bytes_per_step == Approx(4096).epsilon(0.1));
}

TEST_CASE("single odd steps and the teardown at the end change nothing") {
  const auto odd = [](auto k) { return k == 30 || k == 71 ? 4 * gib : 0; };
  CHECK(judge(of(100, [&](auto k) { return gib + odd(k); })).shape == shape::steady);
  const auto leaking = [&](auto k) { return 4 * gib + k * mib + odd(k); };
  CHECK(judge(of(100, leaking)).shape == shape::accumulating);
  auto torn_down = of(100, leaking);
  torn_down.back() = 0;
  CHECK(judge(torn_down).shape == shape::accumulating);
}

TEST_CASE("a leak that begins late is found, with the rate since then") {
  const auto given = judge(of(600, [](auto k) { return gib + (k < 300 ? 0 : (k - 300) * mib); }));
  CHECK(given.shape == shape::accumulating);
  CHECK(given.bytes_per_step == Approx(static_cast<double>(mib)).epsilon(0.05));
  CHECK(given.evidence.late_start > 0.3);
}

TEST_CASE("shrinking memory is no leak") {
  CHECK_FALSE(is_leak(judge(of(300, [](auto k) { return 8 * gib - k * mib; })).shape));
}

TEST_CASE("every verdict says what would overturn it, and how sure it is") {
  for (const auto& series :
       {of(200, [](auto k) { return gib + k * mib; }), of(200, [](auto) { return gib; }),
        of(200, [](auto k) { return gib + k % 20 * mib; }),
        of(200, [](auto k) { return gib + std::min<std::uint64_t>(k, 90) * mib; })}) {
    const auto given = judge(series);
    CHECK_FALSE(given.overturned_by.empty());
    CHECK(given.confidence > 0);
    CHECK(given.confidence < 1);
  }
}

TEST_CASE("memory that never changed for long is certainly steady") {
  CHECK(judge(of(500, [](auto) { return gib; })).confidence > 0.9);
}

TEST_CASE("more steps make a leak more certain") {
  const auto leak = [](auto k) { return gib + k * mib; };
  CHECK(judge(of(15, leak)).confidence < judge(of(100, leak)).confidence);
  CHECK(judge(of(100, leak)).confidence < judge(of(300, leak)).confidence);
}
