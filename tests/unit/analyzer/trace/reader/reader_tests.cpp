// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/reader.h"

#include "tests/unit/analyzer/trace/reader/seen_events.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;
using format::kind;

namespace {
constexpr std::uint64_t a = 0x7f0000000000;
}

TEST_CASE("GIVEN the format's worked example WHEN read THEN it is that allocation") {
  trace_builder trace;
  for (int i = 0; i < 7; ++i) (void)trace.stack({{"train.py", 1, "main"}});
  trace.raw({0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0xc0, 0x3f, 0x80, 0x08, 0x07}).time();
  const auto done = read(trace.bytes());
  REQUIRE(done.seen.allocator.size() == 1);
  const auto& alloc = done.seen.allocator[0];
  CHECK(alloc.kind == kind::alloc);
  CHECK(alloc.address == 0x7f0000000000);
  CHECK(alloc.size == 1024);
  CHECK(alloc.stack.value == 7);
}

TEST_CASE("GIVEN a killed run WHEN read THEN the slot's records are there and nothing is missing") {
  trace_builder trace;
  trace.alloc(a, 4_MiB).end_block();
  trace.free(a);
  const auto done = read(trace.bytes());
  REQUIRE(done.seen.allocator.size() == 3);
  CHECK(done.seen.allocator[2].kind == kind::free_completed);
  CHECK(done.facts.events == 3);
  CHECK_FALSE(done.facts.clean_exit);
  CHECK_FALSE(done.facts.truncated);
  CHECK_FALSE(done.facts.damage);
}

TEST_CASE("GIVEN a clean exit WHEN read THEN the trailer is known and times come from the clock") {
  trace_builder trace;
  trace.alloc(a, 512).end_block();
  trace.alloc(a + 4096, 512);
  const auto done = read(trace.clean_exit());
  CHECK(done.facts.clean_exit);
  CHECK_FALSE(done.facts.truncated);
  CHECK(done.facts.end_time_ns == 2'000'000'000);
  REQUIRE(done.seen.heads.size() == 2);
  CHECK(done.seen.heads[0].number == 0);
  CHECK(done.seen.heads[0].time_ns == trace_builder::step_ns);
  CHECK(done.seen.heads[1].number == 1);
  CHECK(done.seen.heads[1].time_ns == 2 * trace_builder::step_ns);
}

TEST_CASE("GIVEN reports without fields WHEN read THEN the totals are the predicted ones") {
  trace_builder trace;
  trace.segment(a, 2_MiB).alloc(a, 1000).alloc(a + 1024, 1).free(a);
  const auto done = read(trace.bytes());
  REQUIRE(done.seen.reports.size() == 3);
  CHECK(done.seen.reports[0].block_bytes == 1024);
  CHECK(done.seen.reports[0].allocated == 1024);
  CHECK(done.seen.reports[0].reserved == 2_MiB);
  CHECK(done.seen.reports[1].address == a + 1024);
  CHECK(done.seen.reports[1].allocated == 1536);
  CHECK(done.seen.reports[2].block_bytes == -1024);
  CHECK(done.seen.reports[2].address == a);
  CHECK(done.seen.reports[2].allocated == 512);
}

TEST_CASE("GIVEN a new block WHEN a report leaves its fields out THEN nothing before it counts") {
  trace_builder trace;
  trace.segment(a, 2_MiB).alloc(a, 512).end_block();
  trace.record(kind::alloc, a + 512, 512).report_totals(1024, 2_MiB);
  trace.record(kind::alloc, a + 1024, 512).report().end_block();
  trace.record(kind::alloc, a + 1536, 512).report();
  const auto done = read(trace.bytes());
  REQUIRE(done.seen.reports.size() == 4);
  CHECK(done.seen.reports[1].allocated == 1024);
  CHECK(done.seen.reports[2].allocated == 1536);
  CHECK(done.seen.reports[2].reserved == 2_MiB);
  CHECK(done.seen.reports[3].allocated == 512);
  CHECK(done.seen.reports[3].reserved == 0);
}

TEST_CASE("GIVEN stream, pool and device changes WHEN read THEN they hold until the next change") {
  trace_builder trace;
  const auto thread = trace.thread(99, "pt_autograd_0");
  trace.context(1, thread).on_stream(7).in_pool(0, 3).alloc(a, 512).alloc(a + 512, 512);
  trace.on_stream(0).alloc(a + 1024, 512);
  const auto done = read(trace.bytes());
  REQUIRE(done.seen.allocator.size() == 3);
  CHECK(done.seen.allocator[1].stream == 7);
  CHECK(done.seen.allocator[1].pool == trace::pool_id{0, 3});
  CHECK(done.seen.allocator[2].stream == 0);
  CHECK(done.seen.allocator[2].pool == trace::pool_id{0, 3});
  CHECK(done.seen.heads[1].device == 1);
  CHECK(done.seen.heads[1].thread.value == thread);
}

TEST_CASE("GIVEN a record of a later kind WHEN read THEN it is skipped by its length") {
  trace_builder trace;
  trace.raw({24 | 1 << format::kind_bits, 3, 0xff, 0xff, 0xff}).alloc(a, 512);
  const auto done = read(trace.bytes());
  CHECK(done.seen.allocator.size() == 1);
  CHECK_FALSE(done.facts.damage);
}

TEST_CASE("GIVEN a slot two blocks ahead WHEN read THEN what is missing is counted, not guessed") {
  trace_builder trace;
  trace.alloc(a, 512).end_block();
  const auto one_block = trace.bytes().size();
  trace.alloc(a + 512, 512).alloc(a + 1024, 512).end_block();
  trace.alloc(a + 1536, 512);
  auto bytes = trace.bytes();
  bytes.resize(one_block);
  const auto done = read(bytes);
  CHECK(done.facts.events == 1);
  CHECK(done.facts.truncated);
  CHECK(done.facts.missing_blocks == 1);
  CHECK(done.facts.missing_events == 2);
  CHECK_FALSE(done.facts.damage);
}

TEST_CASE(
    "GIVEN a block cut off while it was written WHEN its slot is there THEN nothing is lost") {
  trace_builder trace;
  trace.alloc(a, 512).alloc(a + 512, 512);
  auto bytes = trace.bytes();
  trace.end_block();
  const auto written = trace.bytes();
  bytes.insert(bytes.end(), written.begin() + trace_builder::first_block, written.end() - 9);
  const auto done = read(bytes);
  CHECK(done.facts.events == 2);
  CHECK_FALSE(done.facts.truncated);
  CHECK_FALSE(done.facts.damage);
}

TEST_CASE("GIVEN dropped events WHEN read THEN their number and the reason are told") {
  trace_builder trace;
  trace.header.dropped_events = 12;
  trace.header.dropped_because = static_cast<std::uint32_t>(format::drop_reason::disk_full);
  trace.header.dropped_errno = 28;
  const auto done = read(trace.alloc(a, 512).bytes());
  CHECK(done.facts.dropped_events == 12);
  CHECK(done.facts.dropped_because == format::drop_reason::disk_full);
  CHECK(done.facts.dropped_errno == 28);
}
