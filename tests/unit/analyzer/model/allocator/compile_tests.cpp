// SPDX-License-Identifier: Apache-2.0
//
// Records made into requests: what belongs to which, and what is missing.
#include "analyzer/model/allocator/compile.h"

#include <bit>
#include <vector>

#include "analyzer/model/allocator/recorded_answers.h"
#include "tests/unit/analyzer/model/allocator/recorded_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using namespace memtrace::test;
using format::operation;

namespace {

constexpr std::uint64_t a = 0x10000000;
constexpr std::uint64_t b = 0x20000000;

std::vector<action> actions_of(const request_log& log) {
  std::vector<action> found;
  for (const auto& one : log.requests) found.push_back(one.what());
  return found;
}

}  // namespace

TEST_CASE("allocations and frees become requests, with the events that told of them") {
  recorded_run run;
  run.segment(a, 20_MiB).alloc(a, 4_MiB - 100, 4_MiB).free(a);
  const auto log = run.compile();
  CHECK(actions_of(*log) == std::vector{action::allocate, action::free});
  CHECK(log->requests[0].size == 4_MiB - 100);
  CHECK(log->requests[1].size == 0);
  CHECK(log->events == event_list{1, 2});
  CHECK(log->addresses == std::vector<std::uint64_t>{a});
  CHECK(log->allocations == std::vector<std::uint32_t>{0});
  CHECK(log->total_bytes == 1_GiB);
  CHECK(log->usable_bytes == 900_MiB);
  CHECK(log->doubts.empty());
  REQUIRE(log->answers->driver.size() == 1);
  CHECK(log->answers->driver[0].what == driver_action::allocated);
  CHECK(log->answers->allocated == std::vector<std::uint64_t>{4_MiB, 0});
}

TEST_CASE("a free that streams hold up has its completion before the next allocation") {
  recorded_run run;
  run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB).free_later(a).complete(a);
  run.alloc(a, 20_MiB, 20_MiB);
  const auto log = run.compile();
  CHECK(actions_of(*log) ==
        std::vector{action::allocate, action::free, action::complete, action::allocate});
  CHECK(log->requests[1].size == 1);
  CHECK(log->requests[2].size == 0);
  CHECK(log->requests[2].block == 0);
}

TEST_CASE("frees that a retry waits for complete behind its allocation") {
  recorded_run run;
  run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB).free_later(a);
  run.call("cudaMalloc", 0, 30_MiB, 2);
  run.operation(operation::event_synchronize).complete(a).release(a, 20_MiB);
  run.segment(b, 30_MiB).alloc(b, 30_MiB, 30_MiB);
  const auto log = run.compile();
  CHECK(actions_of(*log) ==
        std::vector{action::allocate, action::free, action::allocate, action::complete});
  CHECK(log->requests[3].size == 1);
  REQUIRE(log->answers->driver.size() == 4);
  CHECK(log->answers->driver[1].what == driver_action::refused);
  CHECK(log->answers->driver[2].what == driver_action::freed);
  CHECK(log->answers->driver[3].request == 2);
}

TEST_CASE("emptying the cache is one request with what it gave back") {
  recorded_run run;
  run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB).free_later(a);
  run.operation(operation::empty_cache_begin).operation(operation::event_synchronize);
  run.complete(a).release(a, 20_MiB).operation(operation::empty_cache_end);
  run.operation(operation::empty_cache_begin).operation(operation::empty_cache_end);
  const auto log = run.compile();
  CHECK(actions_of(*log) == std::vector{action::allocate, action::free, action::empty_cache,
                                        action::complete, action::empty_cache});
  CHECK(log->answers->driver.back().request == 2);
}

TEST_CASE("what another thread does lies between") {
  recorded_run run;
  run.segment(a, 20_MiB);
  run.thread = 2;
  run.segment(b, 20_MiB).alloc(b, 20_MiB, 20_MiB);
  run.thread = 1;
  run.alloc(a, 20_MiB, 20_MiB);
  const auto log = run.compile();
  REQUIRE(log->answers->driver.size() == 2);
  CHECK(log->answers->driver[0].address == b);
  CHECK(log->answers->driver[0].request == 0);
  CHECK(log->answers->driver[1].address == a);
  CHECK(log->answers->driver[1].request == 1);
}

TEST_CASE("a refused allocation is a block without an address") {
  recorded_run run;
  run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB);
  run.device_free = 300_MiB;
  run.entry(format::kind::oom, 0, 500_MiB);
  const auto log = run.compile();
  CHECK(log->blocks() == 2);
  CHECK(log->addresses[1] == 0);
  CHECK(log->refused_events == std::vector<std::uint64_t>{2});
  CHECK(log->usable_bytes == 320_MiB);  // reserved then, and what was free
}

TEST_CASE("memory that others took from the device is not usable") {
  recorded_run run;
  run.call("cudaMalloc", b, 100_MiB);
  run.call("cudaMalloc", a, 20_MiB).segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB);
  CHECK(run.compile()->usable_bytes == 800_MiB);
}

TEST_CASE("settings of the environment hold from the start, changes where they come") {
  recorded_run run;
  run.info(format::info_key::alloc_conf, "max_split_size_mb:64");
  run.operation(operation::settings, 0, 0, "max_split_size_mb:64");
  run.operation(operation::memory_fraction, std::bit_cast<std::uint64_t>(0.5));
  run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB);
  run.operation(operation::settings, 0, 0, "expandable_segments:True");
  const auto log = run.compile();
  CHECK(log->options.max_split_size == 64_MiB);
  CHECK(actions_of(*log) ==
        std::vector{action::memory_fraction, action::allocate, action::settings});
  CHECK(log->texts == std::vector<std::string>{"expandable_segments:True"});
}

TEST_CASE("what the program changed before a device's first record holds there from the start") {
  recorded_run run;
  run.info(format::info_key::alloc_conf, "expandable_segments:True");
  run.operation(operation::settings, 0, 0, "large_segment_size_mb:32");
  run.device = 1;
  run.segment(a, 32_MiB).alloc(a, 2_MiB, 2_MiB);
  const auto log = run.compile(1);
  CHECK(log->options.large_segment_size == 32_MiB);
  CHECK(log->options.expandable_segments);
  CHECK(log->requests.size() == 1);
}

TEST_CASE("a fraction that the environment sets is none that the program sets") {
  recorded_run run;
  run.info(format::info_key::alloc_conf, "per_process_memory_fraction:0.5");
  run.operation(operation::memory_fraction, std::bit_cast<std::uint64_t>(0.5));
  run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB);
  const auto log = run.compile();
  CHECK(log->options.memory_fraction == 0.5);
  CHECK(actions_of(*log) == std::vector{action::allocate});
}

TEST_CASE("a pool that was made before the recording is known by its first release") {
  recorded_run run;
  run.pool = {0, 3};
  run.operation(operation::pool_begin, 0, 3);
  run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB);
  run.operation(operation::pool_end, 0, 3).operation(operation::pool_release, 0, 3);
  const auto log = run.compile();
  CHECK(actions_of(*log) ==
        std::vector{action::pool_begin, action::allocate, action::pool_end, action::pool_release});
  CHECK(log->requests[0].size == 1);
  CHECK(log->requests[1].pool == 1);
}

TEST_CASE("a graph's pool is released when the graph goes, not when its capture ends") {
  recorded_run run;
  run.pool = {5, 0};
  run.operation(operation::pool_begin, 5, 0);
  run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB);
  run.operation(operation::pool_end, 5, 0).free(a).operation(operation::pool_release, 5, 0);
  CHECK(run.compile()->requests[0].size == 0);
}

TEST_CASE("a pool that was begun before the recording is begun by its first allocation") {
  recorded_run run;
  run.pool = {0, 3};
  run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB);
  run.operation(operation::pool_end, 0, 3);
  CHECK(actions_of(*run.compile()) ==
        std::vector{action::pool_begin, action::allocate, action::pool_end});
}

TEST_CASE("what is missing is doubted") {
  recorded_run late;
  late.was_allocated(8_MiB).segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB);
  CHECK(late.compile()->doubts.size() == 1);
  recorded_run unknown;
  unknown.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB).free(b);
  CHECK(unknown.compile()->doubts.size() == 1);
  recorded_run twice;
  twice.segment(a, 20_MiB).alloc(a, 4_MiB, 4_MiB).alloc(a, 4_MiB, 4_MiB);
  const auto log = twice.compile();
  CHECK(log->doubts.size() == 1);
  CHECK(actions_of(*log) == std::vector{action::allocate, action::free, action::allocate});
}
