// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/side_by_side.h"

#include <sched.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace::allocator;

TEST_CASE("work done side by side is done once each, also inside of other such work") {
  static constexpr std::size_t outer = 40;
  static constexpr std::size_t inner = 25;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::vector<std::size_t>> made(outer, std::vector<std::size_t>(inner, 0));
    side_by_side(outer, [&](std::size_t i) {
      side_by_side(inner, [&](std::size_t j) { made[i][j] += i * inner + j + 1; });
    });
    for (std::size_t i = 0; i < outer; ++i) {
      for (std::size_t j = 0; j < inner; ++j) REQUIRE(made[i][j] == i * inner + j + 1);
    }
  }
}

TEST_CASE("no work at all is done at once") {
  bool called = false;
  side_by_side(0, [&](std::size_t) { called = true; });
  CHECK_FALSE(called);
}

TEST_CASE("what work done side by side throws reaches the caller") {
  const auto fails_at_three = [](std::size_t i) {
    if (i == 3) throw std::runtime_error("three");
  };
  CHECK_THROWS_AS(side_by_side(8, fails_at_three), std::runtime_error);
}

TEST_CASE("as many jobs as cores that may be used, or as the environment says") {
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_SET(first, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(job_limit() == 1);
  ::setenv("MEMTRACE_JOBS", "5", 1);
  CHECK(job_limit() == 5);
  for (const char* const unusable : {"", "0", "-1", "5x"}) {
    ::setenv("MEMTRACE_JOBS", unusable, 1);
    CHECK(job_limit() == 1);
  }
  ::unsetenv("MEMTRACE_JOBS");
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
}
