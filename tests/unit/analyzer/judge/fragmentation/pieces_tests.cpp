// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/pieces.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/made_layouts.h"

namespace memtrace::test {

namespace {

using fragmentation::reason;

bool nobody(std::uint32_t) {
  return false;
}
bool everybody(std::uint32_t) {
  return true;
}

[[nodiscard]] fragmentation::bytes_by_reason parts(const heap& of,
                                                   const fragmentation::viewpoint& from = {},
                                                   bool (*long_lived)(std::uint32_t) = nobody) {
  const auto pieces = pieces_of(of.found, from, long_lived);
  const auto sum = sum_of(pieces);
  CHECK(sum.total() == of.found.reserved - of.found.allocated);
  return sum;
}

}  // namespace

TEST_CASE("GIVEN segments of all kinds WHEN cut into pieces THEN each free byte has one reason") {
  heap all;
  all.segment({used(10_MiB), cached(4_MiB), used(6_MiB)})
      .segment({cached(20_MiB)})
      .segment({.stream = 1}, {used(2_MiB), cached(18_MiB)})
      .segment({.pool = 1}, {cached(20_MiB)})
      .segment({.small = true}, {used(1_MiB), cached(1_MiB)})
      .segment({used(8_MiB), held(12_MiB)});
  const auto sum = parts(all);
  CHECK(sum[reason::split] == 4_MiB);
  CHECK(sum[reason::empty_segments] == 20_MiB);
  CHECK(sum[reason::other_streams] == 18_MiB);
  CHECK(sum[reason::other_pools] == 20_MiB);
  CHECK(sum[reason::small_pool] == 1_MiB);
  CHECK(sum[reason::pending] == 12_MiB);
}

TEST_CASE("GIVEN a pool that graphs work in WHEN cut into pieces THEN what they need is in none") {
  heap all;
  all.segment({.pool = 1}, {used(2_MiB), cached(10_MiB), held(8_MiB)})
      .segment({.pool = 2}, {cached(20_MiB)})
      .segment({cached(4_MiB), used(16_MiB)});
  const fragmentation::replayed_pools replayed = {false, true, false};
  const auto sum = sum_of(fragmentation::pieces_of(all.found, {}, nobody, replayed));
  const auto graphs = fragmentation::graph_pools_of(all.found, replayed);
  CHECK(graphs == 10_MiB);
  CHECK(sum[reason::pending] == 8_MiB);
  CHECK(sum[reason::other_pools] == 20_MiB);
  CHECK(sum[reason::split] == 4_MiB);
  CHECK(sum.total() + graphs == all.found.reserved - all.found.allocated);
}

TEST_CASE(
    "GIVEN two streams WHEN seen from the other THEN the first one's memory is another stream's") {
  heap all;
  all.segment({used(10_MiB), cached(10_MiB)}).segment({.stream = 1}, {used(2_MiB), cached(18_MiB)});
  const auto sum = parts(all, {.stream = 1});
  CHECK(sum[reason::other_streams] == 10_MiB);
  CHECK(sum[reason::split] == 18_MiB);
}

TEST_CASE("GIVEN a small request WHEN small segments are cut up THEN they are what is explained") {
  heap all;
  all.segment({.small = true}, {used(512), cached(2_MiB - 512)}).segment({cached(20_MiB)});
  const auto sum = parts(all, {.small = true});
  CHECK(sum[reason::split] == 2_MiB - 512);
  CHECK(sum[reason::empty_segments] == 20_MiB);
}

TEST_CASE(
    "GIVEN long-lived blocks WHEN a quarter is in use THEN they pin it, and no more than that") {
  heap all;
  all.segment({used(5_MiB), cached(15_MiB)}).segment({used(5_MiB + 512), cached(15_MiB - 512)});
  CHECK(parts(all, {}, everybody)[reason::survivors] == 15_MiB);
  CHECK(parts(all, {}, everybody)[reason::split] == 15_MiB - 512);
  CHECK(parts(all)[reason::survivors] == 0);
}

TEST_CASE("GIVEN a block that a stream holds WHEN a segment is judged THEN it is in use") {
  heap all;
  all.segment({used(1_MiB), held(6_MiB), cached(13_MiB)});
  CHECK(parts(all, {}, everybody)[reason::split] == 13_MiB);
}

TEST_CASE(
    "GIVEN expandable segments WHEN cut up THEN holes are split and what is behind is a tail") {
  heap all;
  all.segment({.expandable = true},
              {used(10_MiB), cached(4_MiB), used(6_MiB), cached(20_MiB), unmapped(400_MiB)})
      .segment({.expandable = true}, {cached(40_MiB), unmapped(100_MiB)});
  const auto sum = parts(all, {}, everybody);
  CHECK(sum[reason::split] == 4_MiB);
  CHECK(sum[reason::expandable_tails] == 60_MiB);
}

TEST_CASE(
    "GIVEN a request WHEN free memory is summed THEN it is of its stream, pool and size class") {
  heap all;
  all.segment({used(10_MiB), cached(4_MiB), used(2_MiB), cached(6_MiB)})
      .segment({.stream = 1}, {cached(20_MiB)})
      .segment({.pool = 1}, {cached(20_MiB)})
      .segment({.small = true}, {cached(2_MiB)})
      .segment({held(20_MiB)});
  const auto free = fragmentation::free_memory_for(all.found, {});
  CHECK(free.total == 10_MiB);
  CHECK(free.largest == 6_MiB);
}

}  // namespace memtrace::test
