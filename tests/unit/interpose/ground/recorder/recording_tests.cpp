// SPDX-License-Identifier: Apache-2.0
//
// The events given to the recorder come out of the file.
#include <sys/stat.h>

#include <cstring>

#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;
using format::kind;

TEST_CASE("an allocation's fields come back, and context only when it changes") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  auto event = allocation(0x7f0000000000, 1000);
  event.device = 3;
  event.stream = 0x5500;
  event.pool = {0, 7};
  event.stack = 42;
  recording->allocator(event);
  event.kind = kind::free_requested;
  recording->allocator(event);
  const std::string path = recording->path();
  recording->finish();

  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  REQUIRE(trace.of(kind::alloc).size() == 1);
  const auto got = trace.of(kind::alloc)[0];
  CHECK(got.address == 0x7f0000000000);
  CHECK(got.values == std::vector<std::uint64_t>{1000, 42});
  CHECK(got.device == 3);
  CHECK(got.stream == 0x5500);
  CHECK(got.pool_first == 0);
  CHECK(got.pool_second == 7);
  CHECK(got.flags == (format::flag_stream | format::flag_pool));
  const auto freed = trace.of(kind::free_requested)[0];
  CHECK(freed.flags == 0);
  CHECK(freed.stream == 0x5500);
  CHECK(trace.of(kind::context).size() == 1);
  CHECK(trace.of(kind::thread).size() == 1);
}

TEST_CASE("times go up and are those of the clock") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  for (int i = 0; i < 3; ++i) recording->allocator(allocation(512, 512));
  const std::string path = recording->path();
  recording->finish();
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  const auto allocations = trace.of(kind::alloc);
  REQUIRE(allocations.size() == 3);
  CHECK(allocations[1].ticks - allocations[0].ticks == 1000);
  CHECK(allocations[2].ticks - allocations[1].ticks == 1000);
}

TEST_CASE("a report leaves out what can be predicted, and only that") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  auto segment = allocation(0x10000, 2 << 20);
  segment.kind = kind::segment_alloc;
  recording->allocator(segment);
  recording->allocator(allocation(0x10000, 100));
  recording->report(
      {.address = 0x10000, .block_bytes = 512, .allocated = 512, .reserved = 2 << 20});
  recording->allocator(allocation(0x10200, 700));
  // An unsplit block: larger than the request rounded up.
  recording->report(
      {.address = 0x10200, .block_bytes = 2048, .allocated = 2560, .reserved = 2 << 20});
  auto freed = allocation(0x10000, 100);
  freed.kind = kind::free_requested;
  recording->allocator(freed);
  // Totals that contradict the events.
  recording->report({.address = 0x10000, .block_bytes = -512, .allocated = 1, .reserved = 2});
  const std::string path = recording->path();
  recording->finish();

  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  CHECK(trace.timed == 4);
  const auto reports = trace.of(kind::report);
  REQUIRE(reports.size() == 3);
  CHECK(reports[0].flags == 0);
  CHECK(reports[1].flags == format::report_block);
  CHECK(reports[1].values == std::vector<std::uint64_t>{2048});
  CHECK(reports[2].flags == format::report_totals);
  CHECK(reports[2].values == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("every other kind of record comes back") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  recording->info("command", std::string_view("python\0train.py", 15));
  recording->device({.device = 1,
                     .total_bytes = 24ull << 30,
                     .free_bytes = 23ull << 30,
                     .major = 8,
                     .minor = 6,
                     .multiprocessors = 82,
                     .name = "a GPU"});
  recording->operation({.what = format::operation::settings, .text = "expandable_segments:True"});
  recording->cuda_call({.api = "cudaMalloc", .error = 2, .size = 4096, .handle = 9, .stack = 5});
  recording->cuda_call({.api = "cudaFree", .is_release = true, .address = 0x2000});
  recording->cuda_undo({.api = "cudaFree", .address = 0x2000, .error = 1});
  recording->message(true, "something is missing");
  recording->reported({.address = 0x3000, .block_bytes = -1024}, {}, 6);
  auto oom = allocation(123456, 1 << 20);
  oom.kind = kind::oom;
  recording->allocator(oom);
  auto snapshot = allocation(0, 0);
  snapshot.kind = kind::snapshot;
  recording->allocator(snapshot);
  const std::string path = recording->path();
  const auto summary = recording->finish();

  using numbers = std::vector<std::uint64_t>;
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  CHECK(trace.of(kind::info)[0].texts ==
        std::vector<std::string>{"command", std::string("python\0train.py", 15)});
  const auto device = trace.of(kind::device)[0];
  CHECK(device.values == numbers{1, 24ull << 30, 23ull << 30, 8, 6, 82, device.values[6]});
  CHECK(trace.of(kind::text)[device.values[6] - 1].texts[0] == "a GPU");
  CHECK(trace.of(kind::operation)[0].texts[0] == "expandable_segments:True");
  const auto calls = trace.of(kind::cuda_call);
  REQUIRE(calls.size() == 2);
  CHECK(trace.of(kind::text)[calls[0].values[0] - 1].texts[0] == "cudaMalloc");
  CHECK(calls[0].values == numbers{calls[0].values[0], 4096, 9, 2, 5});
  CHECK(calls[1].flags == format::call_release);
  CHECK(calls[1].address == 0x2000);
  CHECK(trace.of(kind::cuda_undo)[0].values[0] == calls[1].values[0]);
  CHECK(trace.of(kind::message)[0].texts[0] == "something is missing");
  CHECK(trace.of(kind::reported_free)[0].values == numbers{1024, 6});
  CHECK(trace.of(kind::oom)[0].values == numbers{123456, 1 << 20, 0});
  CHECK(trace.of(kind::snapshot).size() == 1);
  CHECK(trace.timed == 8);
  CHECK(summary.events == 8);
  CHECK(trace.trailer.events == 8);
}

TEST_CASE("a clean end leaves empty slots, a trailer, and space given back") {
  const temporary_folder folder;
  auto recording = make_recorder(folder, default_shape);
  recording->allocator(allocation(512, 512));
  const std::string path = recording->path();
  const auto summary = recording->finish();
  CHECK(summary.complete);
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  CHECK(trace.has_trailer);
  CHECK(trace.header.state == static_cast<std::uint32_t>(format::file_state::complete));
  CHECK(trace.block_sequences == std::vector<std::uint64_t>{1});
  CHECK(trace.slot_sequences.empty());
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  CHECK(facts.st_size > 2l * default_shape.bytes());
  CHECK(facts.st_blocks * 512 < 64 << 10);
}

TEST_CASE("events after the end are counted and do no harm") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  recording->allocator(allocation(512, 512));
  const std::string path = recording->path();
  recording->finish();
  recording->allocator(allocation(1024, 512));
  recording->report({.address = 1024, .block_bytes = 512});
  CHECK(recording->intern(std::vector<stack_frame>{{"a.py", "f", 1}}) == 0);
  const auto trace = decode_trace(path);
  CHECK(trace.error.empty());
  CHECK(trace.of(kind::alloc).size() == 1);
  CHECK(recording->dropped_events() == 1);
  CHECK(trace.header.state == static_cast<std::uint32_t>(format::file_state::complete));
}
