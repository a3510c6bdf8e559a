// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/what_if.h"

#include "tests/unit/analyzer/model/allocator/made_requests.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using namespace memtrace::test;

TEST_CASE("peaks are told with the request and event that reached them") {
  made_requests program;
  const auto a = program.allocate(20_MiB);
  program.free(a);
  program.allocate(30_MiB);
  const auto found = program.replay();
  CHECK(found.reserved.bytes == 50_MiB);
  CHECK(found.reserved.request == 2);
  CHECK(found.reserved.event == 20);
  CHECK(found.allocated.bytes == 30_MiB);
  CHECK(found.reserved_at_end == 50_MiB);
  CHECK(found.requests == 3);
  CHECK(found.calls.total() == 2);
}

TEST_CASE("a replay ends with the first refusal that the recorded run did not have") {
  made_requests program;
  program.log.usable_bytes = 50_MiB;
  program.refuse(60_MiB);
  const auto a = program.allocate(40_MiB);
  program.allocate(30_MiB);
  program.free(a);
  const auto found = program.replay();
  REQUIRE(found.out_of_memory);
  CHECK(found.out_of_memory->request == 2);
  CHECK(found.requests == 2);
  CHECK(found.served_refusals == 0);
}

TEST_CASE("a request that was refused and would be served is not kept") {
  made_requests program;
  program.refuse(60_MiB);
  program.allocate(40_MiB);
  const auto found = program.replay();
  CHECK(found.served_refusals == 1);
  CHECK(found.allocated.bytes == 60_MiB);
  CHECK(found.reserved.bytes == 60_MiB);  // the 60 MiB serve again
}

TEST_CASE("frees that a retry brought forward are counted where they take effect") {
  made_requests program;
  const auto a = program.allocate(20_MiB);
  program.free_later(a);
  program.allocate(20_MiB);
  program.complete(a, true);
  CHECK(program.replay().early_completions == 1);
  program.log.usable_bytes = 30_MiB;  // this replay retries, too
  CHECK(program.replay().early_completions == 0);
  CHECK(program.replay().retries == 1);
}

TEST_CASE("changes that the program makes hold on top of other options, unless passed over") {
  made_requests program;
  program.log.texts = {"expandable_segments:True"};
  program.on_pool(action::settings, 0, 0);
  program.allocate(30_MiB);
  auto under = program.scenario();
  CHECK(replay(program.log, under).reserved.bytes == 40_MiB);
  under.follow_changes = false;
  CHECK(replay(program.log, under).reserved.bytes == 30_MiB);
}

TEST_CASE("where addresses decide, the range of policies shows it") {
  // Two equal gaps, one before a block that goes and one before a block that stays: the lower
  // address decides which segment becomes whole again.
  made_requests program;
  const auto a = program.allocate(12_MiB);
  const auto b = program.allocate(12_MiB);
  program.free(a);
  program.free(b);
  const auto small_a = program.allocate(6_MiB);
  const auto large_b = program.allocate(12_MiB);
  program.free(large_b);
  program.free(small_a);
  CHECK(!replay_all_policies(program.log, program.scenario()).depends_on_addresses);

  made_requests mixed;
  const auto first = mixed.allocate(20_MiB);
  const auto second = mixed.allocate(20_MiB, 0);
  mixed.allocate(2_MiB);
  mixed.free(first);
  mixed.free(second);
  const auto piece = mixed.allocate(11_MiB);
  mixed.free(piece);
  const auto range = replay_all_policies(mixed.log, mixed.scenario());
  CHECK(range.best.reserved.bytes <= range.worst.reserved.bytes);
}

TEST_CASE("the smallest capacity that fits was replayed there and fails a step below") {
  made_requests program;
  const auto a = program.allocate(60_MiB);
  program.free(a);
  program.allocate(80_MiB);
  const auto fit = find_smallest_fit(program.log, program.scenario(), 1_GiB, 2_MiB);
  REQUIRE(fit);
  CHECK(fit->usable_bytes == 80_MiB);  // with a retry, that is; without one 140 MiB
  CHECK(fit->retries == 1);
  CHECK(!find_smallest_fit(program.log, program.scenario(), 70_MiB, 2_MiB));

  const auto b = program.allocate(30_MiB);
  program.allocate(4_MiB);
  program.free(b);
  const auto more = find_smallest_fit(program.log, program.scenario(), 1_GiB, 2_MiB);
  REQUIRE(more);
  auto under = program.scenario();
  under.usable_bytes = more->usable_bytes;
  CHECK(!replay(program.log, under).out_of_memory);
  under.usable_bytes -= 2_MiB;
  CHECK(replay(program.log, under).out_of_memory);
}

TEST_CASE("layouts are shown after the requests that were asked for") {
  made_requests program;
  const auto a = program.allocate(20_MiB);
  program.free(a);
  std::vector<std::uint64_t> allocated;
  show_layouts(program.log, program.scenario(), {0, 1, 7},
               [&](std::uint32_t, const layout& now) { allocated.push_back(now.allocated); });
  CHECK(allocated == std::vector<std::uint64_t>{20_MiB, 0});
}
