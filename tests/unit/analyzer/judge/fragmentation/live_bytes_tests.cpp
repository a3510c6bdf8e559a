// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/live_bytes.h"
#include "analyzer/model/replay/graph_pools.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/made_layouts.h"

namespace memtrace::test {

using fragmentation::measure_live_bytes;

TEST_CASE("GIVEN requests WHEN measured THEN the most rounded bytes live at once are found") {
  requests program;
  const auto first = program.allocate(1_MiB, 1000);
  program.free(first);
  program.allocate(1_MiB, 1);
  program.allocate(2_MiB, 513);
  const auto found = measure_live_bytes(program.log, 4);
  CHECK(found.most == 1536);
  CHECK(found.most_active == 1536);
  CHECK(found.most_blocks == 2);
  CHECK(found.freed == std::vector<std::uint32_t>{1, fragmentation::never, fragmentation::never});
}

TEST_CASE("GIVEN a free that a stream holds up WHEN measured THEN it is active and not live") {
  requests program;
  const auto first = program.allocate(1_MiB, 1024);
  program.free(first);
  const auto second = program.allocate(2_MiB, 1024);
  program.complete(first);
  program.free(second);
  program.allocate(3_MiB, 512);
  const auto found = measure_live_bytes(program.log, 1);
  CHECK(found.most == 1024);
  CHECK(found.most_active == 2048);
}

TEST_CASE("GIVEN refused allocations and nonsense WHEN measured THEN they need nothing") {
  requests program;
  program.allocate(0, 1_MiB);
  program.free(0);
  program.free(7);
  program.complete(0);
  const auto found = measure_live_bytes(program.log, 2);
  CHECK(found.most == 0);
  CHECK(found.most_active == 0);
}

TEST_CASE("GIVEN a graph WHEN measured THEN its pool needs what was live during its capture") {
  using allocator::action;
  using format::operation;
  requests program;
  replay::graph_pools graphs;
  program.log.pools.push_back({1, 0});
  const auto use = [&](action what, operation recorded) {
    trace::event head;
    head.number = program.pool(what, 1);
    trace::operation_event record;
    record.operation = static_cast<std::uint64_t>(recorded);
    record.a = 1;
    static_cast<void>(graphs.on_operation(head, record));
  };
  const auto allocate = [&](std::uint64_t address, std::uint64_t size, std::uint16_t pool) {
    const auto number = program.allocate(address, size);
    const auto index = program.log.requests.size() - 1;
    auto one = program.log.requests[index];
    one.pool = pool & 0xfffu;
    program.log.requests.set(index, one);
    // The event shows that what ends before it was no torch.cuda.use_mem_pool.
    trace::allocator_event record;
    record.kind = format::kind::alloc;
    record.pool = program.log.pools[pool];
    graphs.on_allocator({}, record);
    return number;
  };
  use(action::pool_begin, operation::pool_begin);
  allocate(1_MiB, 1024, 1);
  program.free(allocate(2_MiB, 4096, 1));
  use(action::pool_end, operation::pool_end);
  program.free(allocate(3_MiB, 10240, 0));
  CHECK(measure_live_bytes(program.log, 1).most == 11264);
  const auto found = measure_live_bytes(program.log, 1, &graphs);
  CHECK(found.most == 5120 + 10240);
  CHECK(found.most_active == 5120 + 10240);

  // Its graph is gone: its pool needs no more than any other.
  use(action::pool_release, operation::pool_release);
  allocate(3_MiB, 15360, 0);
  CHECK(measure_live_bytes(program.log, 1, &graphs).most == 15360 + 1024);
}

TEST_CASE("GIVEN windows WHEN measured THEN each has its fullest moment") {
  requests program;
  const auto a = program.allocate(1_MiB, 1024);  // 0
  const auto b = program.allocate(2_MiB, 4096);  // 1: fullest of the first half
  program.free(b);                               // 2
  program.free(a);                               // 3
  program.allocate(1_MiB, 512);                  // 4
  program.allocate(2_MiB, 512);                  // 5: fullest of the second
  const auto found = measure_live_bytes(program.log, 2);
  CHECK(found.fullest == std::vector<std::uint32_t>{1, 5});
}

TEST_CASE("GIVEN the largest sizes WHEN rounded to 512 THEN nothing overflows") {
  CHECK(fragmentation::least_block(0) == 512);
  CHECK(fragmentation::least_block(512) == 512);
  CHECK(fragmentation::least_block(~std::uint64_t{0}) == ~std::uint64_t{511});
}

}  // namespace memtrace::test
