// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "tests/unit/analyzer/judge/fragmentation/evidence_made.h"
#include "tests/unit/catch.h"

namespace memtrace::test {

TEST_CASE("GIVEN a heap WHEN drawn THEN states, sizes and lines are told") {
  requests program;
  program.log.streams.push_back(0xbeef);
  for (int i = 0; i < 3; ++i) program.allocate(1_MiB, 512);
  evidence_made made(program);
  made.line(0, 7).line(1, 9);
  heap all;
  all.segment({used(1_MiB, 0), cached(9_MiB), held(2_MiB), used(8_MiB, 1)})
      .segment({.stream = 1, .pool = 1, .small = true, .expandable = true},
               {used(512, 2), unmapped(1_KiB)});
  const auto map = fragmentation::draw(all.found, made.of, "peak_reserved", 12);
  CHECK(map.event == 12);
  CHECK_FALSE(map.merged);
  REQUIRE(map.segments.size() == 2);
  REQUIRE(map.sites.size() == 2);
  CHECK(map.sites[0].find("model.py:9") != std::string::npos);  // of the most bytes
  CHECK(map.segments[0].blocks == "a2048@1 c18432 p4096 a16384@0");
  CHECK(map.segments[1].blocks == "a1 u2");
  CHECK(map.segments[1].stream == 0xbeef);
  CHECK(map.segments[1].private_pool);
  CHECK(map.segments[1].small);
  CHECK(map.segments[1].expandable);
}

TEST_CASE(
    "GIVEN too many blocks WHEN drawn THEN neighbours become one and the smallest segments go") {
  requests program;
  program.allocate(1_MiB, 512);
  const evidence_made made(program);
  heap all;
  std::vector<given_block> many(fragmentation::most_runs + 1, used(512));
  many.push_back(cached(512));
  all.segment(many);
  auto map = fragmentation::draw(all.found, made.of, "peak_reserved", 0);
  CHECK(map.merged);
  CHECK(map.segments.front().blocks == "a4097 c1");
  CHECK(map.segments_left_out == 0);

  std::vector<given_block> mixed;
  for (std::size_t i = 0; i < fragmentation::most_runs; ++i) {
    mixed.push_back(i % 2 == 0 ? used(1_KiB) : cached(1_KiB));
  }
  all.segment(mixed);
  map = fragmentation::draw(all.found, made.of, "peak_reserved", 0);
  REQUIRE(map.segments.size() == 1);  // the larger takes all the room
  CHECK(map.segments_left_out == 1);
  CHECK(map.bytes_left_out == 512 * (fragmentation::most_runs + 2));
}

}  // namespace memtrace::test
