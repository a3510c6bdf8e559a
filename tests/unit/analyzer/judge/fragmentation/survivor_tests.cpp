// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/pieces.h"
#include "tests/unit/analyzer/judge/fragmentation/evidence_made.h"
#include "tests/unit/catch.h"

namespace memtrace::test {

namespace {

using fragmentation::long_lives;
using fragmentation::measure_live_bytes;

}  // namespace

TEST_CASE("GIVEN steps WHEN a block outlives its own THEN it is long-lived") {
  requests program;
  const auto a = program.allocate(1_MiB, 512);  // 0
  const auto b = program.allocate(2_MiB, 512);  // 1
  program.free(a);                              // 2: before the step ends
  program.allocate(3_MiB, 512);                 // 3: the next step's first
  program.free(b);                              // 4
  const auto c = program.allocate(4_MiB, 512);  // 5, in what no step ends
  program.free(c);                              // 6
  const auto d = program.allocate(5_MiB, 512);
  const auto lives = measure_live_bytes(program.log, 1);
  const std::vector<std::uint32_t> step_ends = {3};
  const long_lives is_long(program.log, lives, step_ends);
  CHECK_FALSE(is_long(a));
  CHECK(is_long(b));
  CHECK_FALSE(is_long(c));
  CHECK(is_long(d));
  CHECK_FALSE(is_long(1000));
}

TEST_CASE(
    "GIVEN no steps WHEN a block lives for a sixteenth of the requests THEN it is long-lived") {
  requests program;
  const auto a = program.allocate(1_MiB, 512);  // 0 … 1
  program.free(a);
  const auto b = program.allocate(1_MiB, 512);  // 2 … 5
  for (int i = 0; i < 2; ++i) program.allocate(2_MiB, 512);
  program.free(b);
  while (program.log.requests.size() < 48) program.allocate(2_MiB, 512);
  const auto lives = measure_live_bytes(program.log, 1);
  const std::vector<std::uint32_t> no_steps;
  const long_lives is_long(program.log, lives, no_steps);
  CHECK_FALSE(is_long(a));
  CHECK(is_long(b));
}

TEST_CASE(
    "GIVEN pinned segments WHEN shared out THEN each line has the bytes that its blocks keep") {
  requests program;
  for (int i = 0; i < 3; ++i) program.allocate(1_MiB, 512);
  evidence_made made(program);
  made.line(0, 7).line(1, 9).same_line(2);
  heap all;
  all.segment({used(1_MiB, 0), cached(9_MiB), used(2_MiB, 1), cached(8_MiB + 1)})
      .segment({used(1_MiB, 2), cached(19_MiB)})
      .segment({used(12_MiB, 2), cached(8_MiB)});
  const auto lives = measure_live_bytes(program.log, 1);
  const std::vector<std::uint32_t> no_steps;
  const long_lives is_long(program.log, lives, no_steps);
  const auto pieces = pieces_of(all.found, {}, std::cref(is_long));
  const auto sites = pinning_sites(pieces, all.found, is_long, made.of);
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].frames.front().line == 9);
  CHECK(sites[0].bytes == 19_MiB + 8_MiB + 512_KiB);
  CHECK(sites[0].blocks == 2);
  CHECK(sites[0].block_bytes == 3_MiB);
  CHECK(sites[1].frames.front().line == 7);
  CHECK(sites[1].bytes == 8_MiB + 512_KiB + 1);
  CHECK(sites[0].bytes + sites[1].bytes == sum_of(pieces)[fragmentation::reason::survivors]);
}

}  // namespace memtrace::test
