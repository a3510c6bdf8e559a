// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/model/allocator/made_requests.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using namespace memtrace::test;

namespace {

made_requests expandable_program() {
  made_requests program;
  program.options.expandable_segments = true;
  return program;
}

}  // namespace

TEST_CASE("an expandable segment grows by granules: 2 MiB of small, 20 MiB of large blocks") {
  auto program = expandable_program();
  program.allocate(1_KiB);
  program.allocate(2_MiB);
  program.allocate(30_MiB);
  const auto heap = program.heap();
  REQUIRE(heap.segments.size() == 2);
  CHECK(heap.reserved == 42_MiB);
  CHECK(heap.allocated == 1_KiB + 32_MiB);
  const auto& large = heap.segments[0].small ? heap.segments[1] : heap.segments[0];
  CHECK(large.expandable);
  CHECK(large.mapped == 40_MiB);
  CHECK(large.bytes == 1160_MiB);  // 9/8 of 1 GiB in whole granules
  REQUIRE(large.blocks.size() == 4);
  CHECK(large.blocks[2].state == block_state::cached);
  CHECK(large.blocks[2].bytes == 8_MiB);
  CHECK(large.blocks[3].state == block_state::unmapped);
  const auto found = program.replay();
  CHECK(found.calls.maps == 3);
  CHECK(found.calls.reservations == 2);
}

TEST_CASE("the free end of the segment is used together with what is mapped behind it") {
  auto program = expandable_program();
  const auto a = program.allocate(20_MiB);
  program.allocate(20_MiB);
  const auto c = program.allocate(20_MiB);
  program.free(a);
  program.free(c);
  program.allocate(40_MiB);  // at the place of c, with 20 MiB more
  const auto heap = program.heap();
  CHECK(heap.reserved == 80_MiB);
  CHECK(heap.segments[0].blocks[0].state == block_state::cached);
}

TEST_CASE("emptying the cache unmaps whole granules and leaves address space") {
  auto program = expandable_program();
  const auto a = program.allocate(30_MiB);
  const auto b = program.allocate(30_MiB);
  program.free(a);
  program.empty_cache();
  auto heap = program.heap();
  CHECK(heap.reserved == 40_MiB);  // the granule that b begins in stays
  REQUIRE(heap.segments[0].blocks.size() == 4);
  CHECK(heap.segments[0].blocks[0].state == block_state::unmapped);
  CHECK(heap.segments[0].blocks[1].state == block_state::cached);
  CHECK(heap.segments[0].blocks[1].bytes == 10_MiB);
  program.allocate(24_MiB);  // the lowest run of free and unmapped blocks
  heap = program.heap();
  CHECK(heap.reserved == 60_MiB);
  CHECK(heap.segments[0].blocks[0].bytes == 24_MiB);
  CHECK(heap.segments[0].blocks[0].state == block_state::allocated);
  program.free(b);
  program.empty_cache();
  CHECK(program.heap().reserved == 40_MiB);
}

TEST_CASE("a segment without memory is given up") {
  auto program = expandable_program();
  program.free(program.allocate(30_MiB));
  program.empty_cache();
  CHECK(program.heap().segments.empty());
  program.allocate(30_MiB);
  CHECK(program.replay().calls.reservations == 2);
}

TEST_CASE("what was mapped before the memory ran out stays cached") {
  auto program = expandable_program();
  program.log.usable_bytes = 70_MiB;
  const auto a = program.allocate(20_MiB);
  const auto b = program.allocate(20_MiB);
  program.allocate(20_MiB);
  program.free(a);
  program.free(b);
  program.empty_cache();
  program.allocate(60_MiB);
  const auto found = program.replay();
  REQUIRE(found.out_of_memory);
  CHECK(found.calls.failed == 2);  // then after a retry
  CHECK(found.reserved_at_end == 20_MiB);
}

TEST_CASE("with the option turned off expandable blocks are left alone") {
  auto program = expandable_program();
  program.free(program.allocate(30_MiB));
  program.on_pool(action::settings, 0, 0);
  program.log.texts = {"expandable_segments:False"};
  program.allocate(30_MiB);
  const auto heap = program.heap();
  CHECK(heap.reserved == 70_MiB);
  REQUIRE(heap.segments.size() == 2);
  CHECK(heap.segments[0].expandable != heap.segments[1].expandable);
}

TEST_CASE("fragmentation by growing sizes is gone with expandable segments") {
  made_requests program;
  for (std::uint64_t size = 20_MiB; size < 80_MiB; size += 4_MiB) {
    program.free(program.allocate(size));
  }
  CHECK(program.replay().reserved.bytes == 720_MiB);  // 20 + 24 + … + 76
  program.options.expandable_segments = true;
  CHECK(program.replay().reserved.bytes == 80_MiB);
}
