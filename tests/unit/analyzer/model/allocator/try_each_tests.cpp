// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/what_if.h"

#include "tests/unit/analyzer/model/allocator/made_requests.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using namespace memtrace::test;

namespace {

// Blocks of growing sizes, every second of which is freed before the next round.
request_log rounds_of_growing_blocks() {
  made_requests program;
  for (std::uint64_t round = 1; round <= 20; ++round) {
    std::vector<block_number> made;
    for (std::uint64_t i = 0; i < 12; ++i)
      made.push_back(program.allocate(round * 1_MiB + i * 4_KiB));
    for (const auto block : made) program.free(block);
  }
  return program.log;
}

}  // namespace

TEST_CASE("scenarios tried at once come out as each does alone") {
  const auto log = rounds_of_growing_blocks();
  std::vector<scenario> scenarios;
  for (const std::uint64_t usable : {0_MiB, 400_MiB, 300_MiB, 260_MiB, 200_MiB, 120_MiB}) {
    scenarios.push_back(as_recorded(log));
    scenarios.back().usable_bytes = usable;
    scenarios.push_back(scenarios.back());
    scenarios.back().options.expandable_segments = true;
  }
  const auto tried = try_each(log, scenarios, 1_GiB, 2_MiB);
  REQUIRE(tried.size() == scenarios.size());
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const auto alone = replay_all_policies(log, scenarios[i]);
    CHECK(tried[i].range.worst.reserved.bytes == alone.worst.reserved.bytes);
    CHECK(tried[i].range.best.calls.total() == alone.best.calls.total());
    CHECK(tried[i].range.worst.out_of_memory.has_value() == alone.worst.out_of_memory.has_value());
    const auto fits = find_smallest_fit(log, scenarios[i], 1_GiB, 2_MiB);
    REQUIRE(tried[i].fits.has_value() == fits.has_value());
    if (fits) CHECK(tried[i].fits->usable_bytes == fits->usable_bytes);
  }
}
