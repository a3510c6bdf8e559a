// SPDX-License-Identifier: Apache-2.0
//
// Blocks within segments: splitting, best fit, merging, streams, deferred frees.
#include "tests/unit/analyzer/model/allocator/made_requests.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using namespace memtrace::test;

TEST_CASE("small requests share segments of 2 MiB, those up to 10 MiB of 20 MiB") {
  made_requests program;
  program.allocate(1);
  program.allocate(1_MiB);
  program.allocate(1_MiB + 1);
  program.allocate(9_MiB);
  program.allocate(10_MiB);
  const auto heap = program.heap();
  REQUIRE(heap.segments.size() == 3);
  CHECK(heap.segments[0].small);
  CHECK(heap.segments[0].bytes == 2_MiB);
  CHECK(heap.segments[1].bytes == 20_MiB);
  CHECK(heap.segments[2].bytes == 10_MiB);
  CHECK(heap.reserved == 32_MiB);
  CHECK(heap.allocated == 512 + 1_MiB + 1_MiB + 512 + 9_MiB + 10_MiB);
  REQUIRE(heap.segments[0].blocks.size() == 3);
  CHECK(heap.segments[0].blocks[0].bytes == 512);
  CHECK(heap.segments[0].blocks[0].requested == 1);
  CHECK(heap.segments[0].blocks[1].number == 1);
  CHECK(heap.segments[0].blocks[2].state == block_state::cached);
  CHECK(heap.segments[0].blocks[2].address ==
        heap.segments[0].address + 2_MiB - heap.segments[0].blocks[2].bytes);
}

TEST_CASE("a rest of up to 1 MiB stays with a large block") {
  made_requests program;
  const auto a = program.allocate(20_MiB);
  program.free(a);
  program.allocate(19_MiB);
  CHECK(program.heap().allocated == 20_MiB);
  made_requests other;
  const auto b = other.allocate(20_MiB);
  other.free(b);
  other.allocate(19_MiB - 512);
  CHECK(other.heap().allocated == 19_MiB - 512);
}

TEST_CASE("the smallest block that fits is taken; of equal ones the lowest") {
  made_requests program;
  const auto large = program.allocate(40_MiB);
  const auto second = program.allocate(30_MiB);
  const auto third = program.allocate(30_MiB);
  for (const auto block : {large, third, second}) program.free(block);
  program.allocate(30_MiB);
  const auto heap = program.heap();
  REQUIRE(heap.segments.size() == 3);
  CHECK(heap.segments[0].blocks[0].state == block_state::cached);
  CHECK(heap.segments[1].blocks[0].state == block_state::allocated);
  CHECK(heap.segments[2].blocks[0].state == block_state::cached);
}

TEST_CASE("freed blocks merge with free neighbours") {
  made_requests program;
  const auto a = program.allocate(4_MiB);
  const auto b = program.allocate(4_MiB);
  const auto c = program.allocate(4_MiB);
  program.free(a);
  program.free(c);
  CHECK(program.heap().segments[0].blocks.size() == 3);
  program.free(b);
  const auto heap = program.heap();
  REQUIRE(heap.segments[0].blocks.size() == 1);
  CHECK(heap.segments[0].blocks[0].bytes == 20_MiB);
}

TEST_CASE("streams do not share blocks") {
  made_requests program;
  program.free(program.allocate(4_MiB, 0));
  program.allocate(4_MiB, 1);
  CHECK(program.heap().segments.size() == 2);
  CHECK(program.replay().reserved.bytes == 40_MiB);
}

TEST_CASE("a block that another stream still uses is free only when that is done") {
  made_requests program;
  const auto a = program.allocate(20_MiB);
  program.free_later(a);
  auto heap = program.heap();
  CHECK(heap.allocated == 0);
  CHECK(heap.active == 20_MiB);
  CHECK(heap.segments[0].blocks[0].state == block_state::pending);
  program.allocate(20_MiB);
  CHECK(program.heap().reserved == 40_MiB);
  program.complete(a);
  program.allocate(20_MiB);
  heap = program.heap();
  CHECK(heap.reserved == 40_MiB);
  CHECK(heap.active == 40_MiB);
}

TEST_CASE("max_split_size keeps large blocks whole, and small requests out of them") {
  made_requests program;
  program.options.max_split_size = 30_MiB;
  program.free(program.allocate(40_MiB));
  program.allocate(20_MiB);  // would be cut out of the 40 MiB
  CHECK(program.heap().reserved == 60_MiB);
  program.allocate(32_MiB);  // takes all of them
  const auto heap = program.heap();
  CHECK(heap.reserved == 60_MiB);
  CHECK(heap.allocated == 60_MiB);
}

TEST_CASE("an oversize block serves requests within max_non_split_rounding only") {
  for (const auto rounding : {20_MiB, 8_MiB}) {
    made_requests program;
    program.options.max_split_size = 30_MiB;
    program.options.max_non_split_rounding = rounding;
    program.free(program.allocate(42_MiB));
    program.allocate(32_MiB);
    CHECK(program.heap().reserved == (rounding == 20_MiB ? 42_MiB : 74_MiB));
  }
}

TEST_CASE("what makes no sense is passed over") {
  made_requests program;
  const auto a = program.allocate(1_MiB);
  program.free(a);
  program.free(a);
  program.complete(a);
  program.free(77);
  program.complete(78);
  program.on_pool(action::pool_end);
  program.on_pool(action::pool_release);
  program.on_pool(action::empty_cache, 4000);
  program.allocate(~std::uint64_t{0}, 0, 0);
  const auto found = program.replay();
  CHECK(found.allocated.bytes == 1_MiB);
  REQUIRE(found.out_of_memory);
  CHECK(found.out_of_memory->request == 9);
}
