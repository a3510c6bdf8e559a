// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/tick_clock.h"

#include <unistd.h>

#include <cmath>

#include "tests/unit/catch.h"

using memtrace::tick_clock;

TEST_CASE("the clock's rate agrees with CLOCK_MONOTONIC") {
  const auto earlier = tick_clock::sample();
  usleep(20'000);
  const tick_clock clock = tick_clock::calibrate(earlier);
  const std::uint64_t ns_before = memtrace::monotonic_ns();
  const std::uint64_t before = clock.ticks();
  usleep(50'000);
  const std::uint64_t after = clock.ticks();
  const std::uint64_t ns_after = memtrace::monotonic_ns();
  // The ticks were read inside the two readings of the other clock.
  const double elapsed = static_cast<double>(after - before) * clock.ns_per_tick();
  const auto outer = static_cast<double>(ns_after - ns_before);
  CHECK(elapsed <= outer * 1.001);
  CHECK(elapsed >= 50e6 * 0.999);
}

TEST_CASE("without time to measure the rate the clock counts nanoseconds") {
  const tick_clock clock = tick_clock::calibrate(tick_clock::sample());
  CHECK(clock.ns_per_tick() == 1.0);
}

TEST_CASE("recorded times are in units of at most a microsecond") {
  const auto earlier = tick_clock::sample();
  usleep(20'000);
  const tick_clock clock = tick_clock::calibrate(earlier);
  CHECK(clock.ns_per_tick() * static_cast<double>(1u << clock.shift()) <= 1000.0);
}
