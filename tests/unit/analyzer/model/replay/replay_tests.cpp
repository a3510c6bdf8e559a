// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/replay.h"

#include <bit>

#include "tests/unit/analyzer/model/replay/replayed.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;
using format::kind;
using replay::unused_reason;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;

[[nodiscard]] std::uint64_t unused(const replay::device_totals& totals, unused_reason why) {
  return totals.unused[static_cast<std::size_t>(why)];
}

}  // namespace

TEST_CASE("GIVEN a block larger than its request WHEN reported THEN sums are in block bytes") {
  trace_builder trace;
  trace.segment(a, 20_MiB).record(kind::alloc, a, 19_MiB + 100).report_block(20_MiB);
  const replayed done(trace);
  const auto totals = done.allocator().totals();
  CHECK(totals.allocated == 20_MiB);
  CHECK(totals.requested == 19_MiB + 100);
  CHECK(done.allocator().mismatches() == 0);
  CHECK(done.allocator().sites().at_peak().at(0).held.bytes == 20_MiB);
}

TEST_CASE("GIVEN a free that waits for a stream WHEN replayed THEN it is pending until completed") {
  trace_builder trace;
  trace.segment(a, 20_MiB).alloc(a, 4_MiB).alloc(a + 4_MiB, 4_MiB);
  trace.record(kind::free_requested, a, 4_MiB).report();
  const replayed waiting(trace);
  CHECK(waiting.allocator().totals().allocated == 4_MiB);
  CHECK(waiting.allocator().totals().pending == 4_MiB);
  CHECK(unused(waiting.allocator().totals(), unused_reason::split_segments) == 12_MiB);
  trace.record(kind::free_completed, a, 4_MiB);
  const replayed done(trace);
  CHECK(done.allocator().totals().pending == 0);
  CHECK(unused(done.allocator().totals(), unused_reason::split_segments) == 16_MiB);
  CHECK(done.allocator().mismatches() == 0);
}

TEST_CASE("GIVEN unused memory WHEN replayed THEN it is told by reason and adds up") {
  trace_builder trace;
  trace.segment(a, 20_MiB).segment(a + 1_GiB, 2_MiB).alloc(a, 5_MiB);
  trace.in_pool(0, 1).segment(a + 2_GiB, 2_MiB).in_pool(0, 0);
  trace.record(kind::segment_map, a + 3_GiB, 20_MiB)
      .record(kind::segment_map, a + 3_GiB + 20_MiB, 20_MiB);
  trace.record(kind::alloc, a + 3_GiB, 30_MiB);
  const replayed done(trace);
  const auto totals = done.allocator().totals();
  CHECK(unused(totals, unused_reason::split_segments) == 15_MiB);
  CHECK(unused(totals, unused_reason::empty_segments) == 2_MiB);
  CHECK(unused(totals, unused_reason::private_pools) == 2_MiB);
  CHECK(unused(totals, unused_reason::expandable) == 10_MiB);
  CHECK(totals.reserved == 64_MiB);
  CHECK(totals.reserved - totals.allocated == 29_MiB);
}

TEST_CASE("GIVEN an expandable segment WHEN its middle is unmapped THEN both ends stay") {
  trace_builder trace;
  trace.record(kind::segment_map, a, 10_MiB).record(kind::segment_unmap, a + 4_MiB, 2_MiB);
  const replayed done(trace);
  CHECK(done.allocator().totals().reserved == 8_MiB);
  const auto& segments = done.allocator().segments().segments();
  REQUIRE(segments.size() == 2);
  CHECK(segments.at(a).bytes == 4_MiB);
  CHECK(segments.at(a + 6_MiB).bytes == 4_MiB);
}

TEST_CASE("GIVEN an unmap over several ranges WHEN replayed THEN all of it is gone") {
  trace_builder trace;
  for (std::uint64_t i = 0; i < 5; ++i) trace.record(kind::segment_map, a + i * 2_MiB, 2_MiB);
  trace.record(kind::segment_unmap, a + 1_MiB, 8_MiB);
  const replayed done(trace);
  CHECK(done.allocator().totals().reserved == 2_MiB);
  CHECK(done.allocator().segments().segments().size() == 2);
}

TEST_CASE("GIVEN totals that differ from the sums WHEN replayed THEN each change counts once") {
  trace_builder trace;
  trace.record(kind::alloc, a, 512)
      .report_totals(1_MiB + 512, 2_MiB);  // something was there before
  trace.record(kind::alloc, a + 512, 512).report_totals(1_MiB + 1024, 2_MiB);
  trace.record(kind::alloc, a + 1024, 512).report_totals(1_MiB + 4096, 2_MiB);  // and now lost
  const replayed done(trace);
  CHECK(done.allocator().mismatches() == 2);
  CHECK(done.allocator().allocated_difference() == 1_MiB + 4096 - 1536);
  CHECK(done.allocator().peak_allocated().totals.allocated == 1_MiB + 4096);
}

TEST_CASE("GIVEN a new segment at the reserved peak WHEN replayed THEN its first block counts") {
  trace_builder trace;
  trace.segment(a, 20_MiB).alloc(a, 18_MiB).free(a).segment(a + 1_GiB, 30_MiB);
  trace.alloc(a + 1_GiB, 30_MiB);
  const replayed done(trace);
  const auto& peak = done.allocator().peak_reserved();
  CHECK(peak.totals.reserved == 50_MiB);
  CHECK(peak.totals.allocated == 30_MiB);
  CHECK(unused(peak.totals, unused_reason::empty_segments) == 20_MiB);
}

TEST_CASE(
    "GIVEN as much reserved for long WHEN replayed THEN the moment of most allocated counts") {
  trace_builder trace;
  trace.segment(a, 20_MiB).alloc(a, 2_MiB).alloc(a + 2_MiB, 15_MiB).free(a).alloc(a, 1_MiB);
  const replayed done(trace);
  const auto& peak = done.allocator().peak_reserved();
  CHECK(peak.totals.reserved == 20_MiB);
  CHECK(peak.totals.allocated == 17_MiB);
}

TEST_CASE(
    "GIVEN out of memory between blocks WHEN replayed THEN the largest free blocks are told") {
  trace_builder trace;
  const auto stack = trace.stack({{"train.py", 8, "main"}});
  trace.device(0, 100_MiB, 90_MiB, "tiny").segment(a, 40_MiB).segment(a + 1_GiB, 2_MiB);
  trace.alloc(a + 5_MiB, 10_MiB, stack).alloc(a + 25_MiB, 15_MiB, stack);
  trace.on_stream(5).segment(a + 2_GiB, 20_MiB).on_stream(0);
  trace.cuda_call("cudaMalloc", 0, 32_MiB, format::call_failed, 2).oom(3_MiB, 32_MiB, stack);
  const replayed done(trace);
  REQUIRE(done->ooms().size() == 1);
  const auto& oom = done->ooms()[0];
  CHECK(oom.requested == 32_MiB);
  CHECK(oom.device_free == 3_MiB);
  CHECK(oom.totals.allocated == 25_MiB);
  CHECK(oom.totals.reserved == 62_MiB);
  CHECK(oom.free.overall == 20_MiB);  // the other stream's segment
  CHECK(oom.free.usable == 10_MiB);   // between the two blocks
  CHECK_FALSE(oom.caught);
  REQUIRE(oom.holders.size() == 1);
  CHECK(oom.holders[0].held.bytes == 25_MiB);
  CHECK(done->device(0)->retries == 1);
}

TEST_CASE(
    "GIVEN a fraction of the GPU that PyTorch may have WHEN memory runs out THEN it is the limit") {
  trace_builder trace;
  trace.device(0, 100_MiB, 90_MiB, "tiny");
  trace.operation(format::operation::memory_fraction, std::bit_cast<std::uint64_t>(0.5));
  trace.segment(a, 40_MiB).alloc(a, 40_MiB, {}).oom(50_MiB, 20_MiB, {});
  const replayed done(trace);
  REQUIRE(done->ooms().size() == 1);
  CHECK(done->ooms()[0].allowed == 50_MiB);
  CHECK(done->ooms()[0].device_free == 10_MiB);
}

TEST_CASE("GIVEN pages mapped side by side WHEN memory runs out THEN they are one free block") {
  trace_builder trace;
  for (std::uint64_t i = 0; i < 3; ++i) trace.record(kind::segment_map, a + i * 20_MiB, 20_MiB);
  trace.record(kind::alloc, a, 12_MiB);
  trace.record(kind::free_requested, a, 12_MiB);  // pending: not free yet
  trace.oom(0, 100_MiB);
  const replayed done(trace);
  CHECK(done->ooms().at(0).free.overall == 48_MiB);
  CHECK(done->ooms().at(0).free.usable == 48_MiB);
}

TEST_CASE("GIVEN out of memory WHEN an allocation follows THEN it was caught, and not before") {
  trace_builder trace;
  trace.segment(a, 20_MiB).alloc(a, 512).oom(0, 1_GiB).free(a);
  CHECK_FALSE(replayed(trace)->ooms().at(0).caught);
  trace.alloc(a, 512).oom(0, 2_GiB);
  const replayed done(trace);
  CHECK(done->ooms().at(0).caught);
  CHECK_FALSE(done->ooms().at(1).caught);
}

TEST_CASE("GIVEN only reports WHEN replayed THEN allocated and its peak are still known") {
  trace_builder trace;
  trace.reported(true, a, 4_MiB).reported(true, a + 4_MiB, 1_MiB).reported(false, a, 4_MiB);
  const replayed done(trace);
  CHECK(done.allocator().peak_allocated().totals.allocated == 5_MiB);
  CHECK(done.allocator().totals().allocated == 1_MiB);
}

TEST_CASE("GIVEN events on two devices WHEN replayed THEN each has its own sums") {
  trace_builder trace;
  trace.context(0, 0).alloc(a, 512).context(1, 0).record(kind::alloc, a, 1024).report();
  const replayed done(trace);
  CHECK(done.allocator(0).totals().allocated == 512);
  CHECK(done.allocator(1).totals().allocated == 1024);
}

TEST_CASE("GIVEN frees of unknown blocks WHEN replayed THEN they are counted and change nothing") {
  trace_builder trace;
  trace.alloc(a, 512).record(kind::free_requested, a + 512, 512);
  trace.record(kind::free_completed, a + 512, 512);
  const replayed done(trace);
  CHECK(done.allocator().unknown_frees() == 1);
  CHECK(done.allocator().totals().allocated == 512);
}
