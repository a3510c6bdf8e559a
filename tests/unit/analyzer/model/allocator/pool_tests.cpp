// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/model/allocator/made_requests.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using namespace memtrace::test;

TEST_CASE("a private pool shares with none, and keeps its memory while somebody has it") {
  made_requests program;
  program.free(program.allocate(20_MiB));
  program.on_pool(action::pool_create);
  program.on_pool(action::pool_begin);
  program.free(program.allocate(20_MiB, 0, 1));
  program.on_pool(action::pool_end);
  program.on_pool(action::pool_release);
  CHECK(program.heap().reserved == 40_MiB);
  program.empty_cache();
  CHECK(program.heap().reserved == 20_MiB);
  CHECK(program.heap().segments[0].pool == 1);
  program.on_pool(action::pool_release);
  program.empty_cache(1);
  CHECK(program.heap().reserved == 0);
}

TEST_CASE("while a pool takes allocations no cache is emptied and none is retried") {
  made_requests program;
  program.log.usable_bytes = 50_MiB;
  program.free(program.allocate(40_MiB));
  program.on_pool(action::pool_begin);
  program.empty_cache();
  program.allocate(30_MiB, 0, 1);
  const auto found = program.replay();
  CHECK(found.out_of_memory);
  CHECK(found.retries == 0);
}

TEST_CASE("blocks of a pool that does not split are taken whole") {
  made_requests program;
  program.on_pool(action::pool_create);
  program.on_pool(action::pool_no_split);
  program.allocate(1_KiB, 0, 1);
  program.allocate(4_MiB, 0, 1);
  CHECK(program.heap().allocated == 22_MiB);
}

TEST_CASE("a pool opened to others serves them before a retry") {
  for (const bool is_open : {true, false}) {
    made_requests program;
    program.log.usable_bytes = 50_MiB;
    program.on_pool(action::pool_create);
    program.on_pool(action::pool_use_on_oom, 1, is_open ? 1 : 0);
    program.free(program.allocate(40_MiB, 0, 1));
    program.allocate(30_MiB);
    const auto found = program.replay();
    CHECK(found.out_of_memory.has_value() != is_open);
    CHECK(found.retries == (is_open ? 0 : 1));
  }
}

TEST_CASE("a pool with an allocator of its own has no expandable segments") {
  made_requests program;
  program.options.expandable_segments = true;
  program.on_pool(action::pool_create, 1, 1);
  program.allocate(30_MiB, 0, 1);
  CHECK(program.heap().reserved == 30_MiB);
}
