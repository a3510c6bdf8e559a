// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/judge.h"
#include "analyzer/judge/verdicts/device_series.h"
#include "tests/unit/catch.h"

namespace {

using memtrace::verdicts::device_series;

constexpr std::uint64_t mib = 1 << 20;

// A step in which `peak` bytes are in use at once; `stays` of them are allocated at its end, and
// `waits` are freed but wait for a stream.
void run_step(device_series& device, std::uint64_t step, std::uint64_t peak, std::uint64_t stays,
              std::uint64_t reserved, std::uint64_t waits = 0) {
  device.observe(peak, peak);
  device.observe(stays, stays + waits);
  device.end_step(step, {.allocated = stays, .in_use = stays + waits, .reserved = reserved});
}

[[nodiscard]] bool grows(const device_series& device) {
  return is_leak(memtrace::growth::judge(device.stranded.values).shape);
}

}  // namespace

TEST_CASE("segments that nothing fits into are stranded") {
  device_series device(0);
  for (std::uint64_t step = 0; step < 50; ++step) {
    run_step(device, step, 100 * mib, 10 * mib, (100 + 20 * step) * mib);
  }
  CHECK(grows(device));
}

TEST_CASE("what the peaks need is not stranded") {
  device_series device(0);
  for (std::uint64_t step = 0; step < 50; ++step) {
    const auto peak = (100 + 20 * step) * mib;
    run_step(device, step, peak, 10 * mib, peak);
  }
  CHECK_FALSE(grows(device));
}

TEST_CASE("what waits for a stream is not stranded") {
  device_series device(0);
  for (std::uint64_t step = 0; step < 50; ++step) {
    run_step(device, step, 100 * mib, 10 * mib, (100 + 2 * step) * mib, (90 + 2 * step) * mib);
  }
  CHECK_FALSE(grows(device));
}

TEST_CASE("after segments were given back an earlier peak explains nothing") {
  device_series device(0);
  run_step(device, 0, 10'000 * mib, 10 * mib, 10'000 * mib);
  run_step(device, 1, 100 * mib, 10 * mib, 100 * mib);  // with empty_cache
  for (std::uint64_t step = 2; step < 50; ++step) {
    run_step(device, step, 100 * mib, 10 * mib, (100 + 20 * step) * mib);
  }
  CHECK(grows(device));
}
