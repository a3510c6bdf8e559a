// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/graph_pools.h"
#include "tests/unit/analyzer/model/replay/replayed.h"
#include "tests/unit/catch.h"

namespace memtrace::test {

namespace {

using format::kind;
using format::operation;

constexpr std::uint64_t a = 0x7000'0000'0000;

// A pool of which a capture gets 20 MiB and leaves 4 MiB in a block.
[[nodiscard]] trace_builder captured(std::uint64_t first = 1, std::uint64_t second = 0) {
  trace_builder trace;
  trace.operation(operation::pool_begin, first, second).in_pool(first, second);
  trace.segment(a, 20_MiB).alloc(a, 4_MiB).alloc(a + 4_MiB, 10_MiB);
  trace.record(kind::free_requested, a + 4_MiB, 10_MiB);
  trace.record(kind::free_completed, a + 4_MiB, 10_MiB);
  return trace;
}

// An event, so that what comes next is not the end of a torch.cuda.use_mem_pool.
trace_builder& go_on(trace_builder& trace) {
  return trace.in_pool(0, 0).segment(a + 1_GiB, 2_MiB);
}

struct bytes {
  std::uint64_t graphs = 0;
  std::uint64_t private_pools = 0;
  friend bool operator==(const bytes&, const bytes&) = default;
};

[[nodiscard]] bytes of(const trace_builder& trace) {
  const replayed done(trace);
  const auto totals = done.allocator().totals();
  std::uint64_t unused = totals.graph_pools + totals.pending;
  for (const auto one : totals.unused) unused += one;
  CHECK(totals.reserved == totals.allocated + unused);
  CHECK(totals.all_unused() == totals.reserved - totals.allocated - totals.graph_pools);
  constexpr auto which = static_cast<std::size_t>(replay::unused_reason::private_pools);
  return {totals.graph_pools, totals.unused[which]};
}

}  // namespace

TEST_CASE("GIVEN a capture WHEN it ends THEN its pool is in use until its graph is released") {
  auto trace = captured();
  CHECK(of(trace) == bytes{0, 16_MiB});
  trace.operation(operation::pool_end, 1, 0);
  CHECK(of(trace) == bytes{16_MiB, 0});
  go_on(trace);
  trace.record(kind::free_requested, a, 4_MiB).record(kind::free_completed, a, 4_MiB);
  CHECK(of(trace) == bytes{20_MiB, 0});
  trace.operation(operation::pool_release, 1, 0);
  CHECK(of(trace) == bytes{0, 20_MiB});
}

TEST_CASE("GIVEN a graph WHEN its segments are freed THEN nothing is left of its pool") {
  auto trace = captured();
  trace.operation(operation::pool_end, 1, 0);
  trace.record(kind::free_requested, a, 4_MiB).record(kind::free_completed, a, 4_MiB);
  trace.record(kind::segment_free, a, 20_MiB);
  CHECK(of(trace) == bytes{0, 0});
}

TEST_CASE("GIVEN two graphs in a pool WHEN one goes THEN the pool stays in use") {
  auto trace = captured();
  trace.operation(operation::pool_end, 1, 0).operation(operation::pool_begin, 1, 0);
  trace.alloc(a + 4_MiB, 2_MiB).operation(operation::pool_end, 1, 0);
  go_on(trace).operation(operation::pool_release, 1, 0);
  CHECK(of(trace) == bytes{14_MiB, 0});
  trace.operation(operation::pool_release, 1, 0);
  CHECK(of(trace) == bytes{0, 14_MiB});
}

TEST_CASE("GIVEN an expandable segment of a graph WHEN it is captured THEN the sums hold") {
  trace_builder trace;
  trace.operation(operation::pool_begin, 1, 0).in_pool(1, 0);
  trace.record(kind::segment_map, a, 20_MiB).record(kind::segment_map, a + 20_MiB, 20_MiB);
  trace.record(kind::alloc, a, 30_MiB).operation(operation::pool_end, 1, 0);
  CHECK(of(trace) == bytes{10_MiB, 0});
  trace.record(kind::segment_unmap, a + 30_MiB, 10_MiB);
  CHECK(of(trace) == bytes{0, 0});
  trace.record(kind::free_requested, a, 30_MiB).record(kind::free_completed, a, 30_MiB);
  trace.operation(operation::pool_release, 1, 0);
  CHECK(of(trace) == bytes{0, 30_MiB});
}

TEST_CASE("GIVEN a MemPool WHEN it is used THEN no graph is seen in it") {
  trace_builder trace;
  trace.operation(operation::pool_create, 0, 3).operation(operation::pool_begin, 0, 3);
  trace.in_pool(0, 3).segment(a, 20_MiB).alloc(a, 4_MiB);
  trace.operation(operation::pool_end, 0, 3).operation(operation::pool_release, 0, 3);
  CHECK(of(trace) == bytes{0, 16_MiB});
  const replayed done(trace);
  CHECK(done.allocator().graphs().count() == 0);
  CHECK(done.allocator().graphs().captures().empty());
}

TEST_CASE("GIVEN a graph in a MemPool WHEN the MemPool goes first THEN the graph still needs it") {
  trace_builder trace;
  trace.operation(operation::pool_create, 0, 3).operation(operation::pool_begin, 0, 3);
  trace.in_pool(0, 3).segment(a, 20_MiB).alloc(a, 4_MiB).operation(operation::pool_end, 0, 3);
  go_on(trace).operation(operation::pool_release, 0, 3);
  trace.operation(operation::empty_cache_begin, 0, 3).operation(operation::empty_cache_end, 0, 3);
  CHECK(of(trace) == bytes{16_MiB, 0});
  trace.operation(operation::pool_release, 0, 3);
  CHECK(of(trace) == bytes{0, 16_MiB});
}

TEST_CASE("GIVEN a snapshot WHEN the use of a pool is worked out THEN no graph is seen in it") {
  trace_builder trace;
  trace.operation(operation::pool_begin, 1, 0, replay::worked_out).in_pool(1, 0);
  trace.segment(a, 20_MiB).alloc(a, 4_MiB);
  go_on(trace).operation(operation::pool_end, 1, 0, replay::worked_out);
  CHECK(of(trace) == bytes{0, 16_MiB});
}

TEST_CASE("GIVEN an empty graph that holds a pool WHEN others come and go THEN it needs nothing") {
  trace_builder trace;
  trace.operation(operation::pool_begin, 0, 1).operation(operation::pool_end, 0, 1);
  go_on(trace).operation(operation::pool_begin, 0, 1);
  trace.in_pool(0, 1).segment(a, 20_MiB).alloc(a, 4_MiB);
  trace.operation(operation::pool_end, 0, 1).operation(operation::pool_release, 0, 1);
  CHECK(of(trace) == bytes{0, 16_MiB});  // a warm-up, as torch.compile makes one
  trace.operation(operation::pool_begin, 0, 1).alloc(a + 4_MiB, 4_MiB);
  trace.operation(operation::pool_end, 0, 1);
  CHECK(of(trace) == bytes{12_MiB, 0});
  trace.in_pool(0, 0).segment(a + 2_GiB, 2_MiB).operation(operation::pool_release, 0, 1);
  CHECK(of(trace) == bytes{0, 12_MiB});
}

TEST_CASE("GIVEN captures WHEN measured THEN each has what it got and the most it used at once") {
  auto trace = captured();
  trace.operation(operation::pool_end, 1, 0);
  go_on(trace).operation(operation::pool_begin, 1, 0);
  trace.in_pool(1, 0).alloc(a + 4_MiB, 2_MiB).operation(operation::pool_end, 1, 0);
  const replayed done(trace);
  const auto& captures = done.allocator().graphs().captures();
  REQUIRE(captures.size() == 2);
  CHECK(captures[0].added == 20_MiB);
  CHECK(captures[0].most == 14_MiB);
  CHECK(captures[1].added == 0);
  CHECK(captures[1].most == 6_MiB);
  const auto& graphs = done.allocator().graphs();
  CHECK(graphs.replayed_after(captures[0].end_event - 1).empty());
  CHECK(graphs.replayed_after(captures[0].end_event).size() == 1);
}

}  // namespace memtrace::test
