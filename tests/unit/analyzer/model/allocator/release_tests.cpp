// SPDX-License-Identifier: Apache-2.0
//
// Memory going back to the driver: empty_cache, retries, oversize blocks, garbage collection.
#include "tests/unit/analyzer/model/allocator/made_requests.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using namespace memtrace::test;

TEST_CASE("empty_cache gives whole segments back, and waits for deferred frees") {
  made_requests program;
  const auto a = program.allocate(20_MiB);
  const auto held = program.allocate(20_MiB);
  const auto part = program.allocate(4_MiB);
  const auto kept = program.allocate(4_MiB);
  program.free(a);
  program.free_later(held);
  program.free(part);
  program.empty_cache();
  auto heap = program.heap();
  CHECK(heap.reserved == 20_MiB);
  CHECK(heap.active == 4_MiB);
  CHECK(program.replay().calls.frees == 2);
  program.complete(held);  // comes later, and finds nothing to do
  program.free(kept);
  program.empty_cache();
  CHECK(program.heap().reserved == 0);
}

TEST_CASE("an allocation that finds no memory gives the cache back and tries again") {
  made_requests program;
  program.log.usable_bytes = 100_MiB;
  const auto a = program.allocate(60_MiB);
  program.free(a);
  program.allocate(80_MiB);
  const auto found = program.replay();
  CHECK(found.retries == 1);
  CHECK(found.calls.failed == 1);
  CHECK(!found.out_of_memory);
  CHECK(found.reserved.bytes == 80_MiB);
}

TEST_CASE("what is split cannot be given back: out of memory") {
  made_requests program;
  program.log.usable_bytes = 100_MiB;
  const auto a = program.allocate(60_MiB);
  const auto b = program.allocate(20_MiB);
  program.free(a);
  program.allocate(30_MiB);  // of the 60 MiB
  program.free(b);
  program.allocate(50_MiB);
  const auto found = program.replay();
  REQUIRE(found.out_of_memory);
  CHECK(found.out_of_memory->request == 5);
  CHECK(found.out_of_memory->event == 50);
  CHECK(found.out_of_memory->requested == 50_MiB);
  CHECK(found.retries == 1);
  CHECK(found.calls.failed == 2);
}

TEST_CASE("a memory fraction refuses before the driver is asked") {
  made_requests program;
  program.options.memory_fraction = 0.1;  // of 1 GiB
  const auto a = program.allocate(60_MiB);
  program.free(a);
  program.allocate(80_MiB);
  const auto found = program.replay();
  CHECK(found.retries == 1);
  CHECK(found.calls.failed == 0);
  CHECK(found.calls.allocations == 2);
}

TEST_CASE("with max_split_size one oversize block that is large enough goes first") {
  made_requests program;
  program.log.usable_bytes = 200_MiB;
  program.options.max_split_size = 30_MiB;
  program.options.max_non_split_rounding = 20_MiB;
  const auto a = program.allocate(40_MiB);
  const auto b = program.allocate(90_MiB);
  const auto c = program.allocate(70_MiB);
  for (const auto block : {a, b, c}) program.free(block);
  program.allocate(50_MiB);  // 70 MiB are too many to be taken whole, and enough to give back
  const auto found = program.replay();
  CHECK(found.retries == 0);
  CHECK(found.calls.frees == 1);
  CHECK(program.heap().reserved == 180_MiB);
}

TEST_CASE("or several, the largest first, until they are enough") {
  made_requests program;
  program.log.usable_bytes = 200_MiB;
  program.options.max_split_size = 30_MiB;
  program.options.max_non_split_rounding = 2_MiB;
  const auto a = program.allocate(40_MiB);
  const auto b = program.allocate(80_MiB);
  const auto c = program.allocate(76_MiB);
  for (const auto block : {a, b, c}) program.free(block);
  program.allocate(100_MiB);  // 80 and 76 MiB go
  const auto found = program.replay();
  CHECK(found.retries == 0);
  CHECK(found.calls.frees == 2);
  CHECK(program.heap().reserved == 140_MiB);
}

TEST_CASE("garbage collection takes what was not used for longer than the average") {
  made_requests program;
  program.options.memory_fraction = 0.5;  // 512 MiB
  program.options.garbage_collection_threshold = 0.4;
  program.free(program.allocate(4_MiB));  // 20 MiB that serve what is small below
  const auto old = program.allocate(100_MiB);
  const auto young = program.allocate(100_MiB);
  program.free(old);
  for (int i = 0; i < 10; ++i) program.free(program.allocate(4_MiB));  // searches pass
  program.free(young);
  program.allocate(150_MiB);  // above 204.8 MiB: the old one goes, not the young one
  const auto found = program.replay();
  CHECK(found.calls.frees == 1);
  const auto heap = program.heap();
  REQUIRE(heap.segments.size() == 3);
  CHECK(heap.reserved == 270_MiB);
}

TEST_CASE("without a memory fraction there is no garbage collection") {
  made_requests program;
  program.options.garbage_collection_threshold = 0.1;
  program.free(program.allocate(500_MiB));
  program.allocate(501_MiB);
  CHECK(program.replay().calls.frees == 0);
}
