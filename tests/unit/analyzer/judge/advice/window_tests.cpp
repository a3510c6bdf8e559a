// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/advise.h"
#include "tests/unit/analyzer/judge/advice/small_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::advice;
using memtrace::test::operator""_MiB;
using test::small_run;

namespace {

// 8 MiB that stay, then steps of 10 requests, of which one needs more than all others.
[[nodiscard]] test::requests steps(std::size_t count, std::size_t highest) {
  test::requests program;
  program.allocate(64_MiB, 8_MiB);
  for (std::size_t step = 0; step < count; ++step) {
    for (int i = 0; i < 5; ++i) {
      const auto block = program.allocate(128_MiB, step == highest ? 60_MiB : 30_MiB);
      program.free(block);
    }
  }
  return program;
}

[[nodiscard]] std::vector<std::uint64_t> ends(std::size_t count) {
  std::vector<std::uint64_t> events;
  for (std::size_t step = 0; step < count; ++step) events.push_back(10 * (1 + 10 * (step + 1)));
  return events;
}

}  // namespace

TEST_CASE("GIVEN a short run THEN there is no window") {
  small_run run(steps(10, 3).log);
  CHECK_FALSE(shorten(run.of, 101));
}

TEST_CASE("GIVEN a peak among the first requests THEN the window is those") {
  small_run run(steps(100, 3).log);
  blocks::count_steps(run.of, ends(100));
  const auto window = shorten(run.of, 200);
  REQUIRE(window);
  CHECK(window->log->requests.size() == 200);
  CHECK(window->of->now.allocated.bytes == 68_MiB);
  CHECK(window->of->step_ends.front() == run.of.step_ends.front());
  CHECK(window->of->part == "the first 200 of all of it");
}

TEST_CASE("GIVEN a late peak THEN the window holds it, and what was alive before") {
  small_run run(steps(100, 80).log);
  blocks::count_steps(run.of, ends(100));
  const auto window = shorten(run.of, 200);
  REQUIRE(window);
  const auto& log = *window->log;
  // Blocks that stay come first, then whole steps.
  CHECK(log.requests.size() <= 201);
  CHECK(log.requests[0].size == 8_MiB);
  CHECK(window->of->now.allocated.bytes == run.of.now.allocated.bytes);
  CHECK(window->of->blocks.size() == log.blocks());
  for (std::uint32_t block = 0; block < log.blocks(); ++block) {
    CAPTURE(block);
    REQUIRE(log.requests[log.allocations[block]].block == block);
    const auto freed = window->of->blocks[block].free_request;
    if (freed == blocks::never) continue;
    REQUIRE(log.requests[freed].block == block);
    REQUIRE(log.requests[freed].what() == allocator::action::free);
  }
}

TEST_CASE("GIVEN ends of steps WHEN counted THEN blocks know when they were made and freed") {
  small_run run(steps(3, 0).log);
  blocks::count_steps(run.of, ends(3));
  REQUIRE(run.of.step_ends == std::vector<std::uint32_t>{11, 21});  // the run ends with the third
  CHECK(run.of.blocks[0].generation == 0);
  CHECK(run.of.blocks[0].death_step == blocks::never);
  CHECK(run.of.blocks[5].death_step == 0);
  CHECK(run.of.blocks[6].generation == 1);
  CHECK(run.of.blocks[15].generation == 2);
}
