// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/pieces.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/made_layouts.h"

namespace memtrace::test {

namespace {

using fragmentation::device_history;
using fragmentation::piece;
using fragmentation::reason;

constexpr std::uint64_t at = 64_MiB;  // of the first segment

[[nodiscard]] std::uint64_t used_of(const requests& program, std::uint64_t begin,
                                    std::uint64_t bytes, const device_history& history = {}) {
  std::vector<piece> pieces = {{begin, bytes, reason::split, 0, 0}};
  mark_used_again(pieces, program.log, history, 0);
  return pieces.front().used_again;
}

}  // namespace

TEST_CASE(
    "GIVEN later allocations WHEN inside of a piece THEN it is used again as far as they reach") {
  requests program;
  program.allocate(at, 512);  // the moment is after this one
  program.allocate(at + 2_MiB, 1_MiB);
  program.allocate(at + 3_MiB, 2_MiB);
  CHECK(used_of(program, at + 2_MiB, 8_MiB) == 3_MiB);
  CHECK(used_of(program, at + 20_MiB, 8_MiB) == 0);
}

TEST_CASE("GIVEN earlier allocations WHEN a piece is watched THEN it is not used again") {
  requests program;
  program.allocate(at + 2_MiB, 1_MiB);
  CHECK(used_of(program, at + 2_MiB, 8_MiB) == 0);
}

TEST_CASE("GIVEN an allocation over its borders WHEN a piece is watched THEN it ends") {
  requests program;
  program.allocate(at, 512);
  program.allocate(at + 2_MiB, 1_MiB);
  program.allocate(at + 1_MiB, 4_MiB);  // merged with what lay before
  program.allocate(at + 2_MiB, 8_MiB);
  CHECK(used_of(program, at + 2_MiB, 8_MiB) == 1_MiB);
  // One that reaches over the end.
  requests other;
  other.allocate(at, 512);
  other.allocate(at + 2_MiB, 9_MiB);
  CHECK(used_of(other, at + 2_MiB, 8_MiB) == 0);
}

TEST_CASE("GIVEN memory that went back to the driver WHEN watched THEN it is not used again") {
  requests program;
  program.allocate(at, 512);
  program.allocate(at + 2_MiB, 1_MiB);  // event 10
  device_history history;
  history.changes = {{5, at, 20_MiB, false}, {6, at, 20_MiB, true}};
  CHECK(used_of(program, at + 2_MiB, 8_MiB, history) == 0);
  history.changes = {{15, at, 20_MiB, false}};
  CHECK(used_of(program, at + 2_MiB, 8_MiB, history) == 1_MiB);
}

TEST_CASE("GIVEN a segment's fresh end WHEN cut THEN it is a piece of its own") {
  heap all;
  all.segment({used(2_MiB), cached(18_MiB)});
  requests program;
  const auto first = program.allocate(at, 8_MiB);
  program.free(first);
  program.allocate(at, 2_MiB);
  device_history history;
  history.changes = {{0, at, 20_MiB, true}};
  // The first allocation's event is that of the segment here: move it on.
  program.log.events = {1, 2, 3};
  std::vector<piece> pieces = {{at + 2_MiB, 18_MiB, reason::split, 0, 7_MiB}};
  const auto cut = cut_never_used(pieces, all.found, program.log, history, 2);
  REQUIRE(cut.size() == 2);
  CHECK(cut[0].bytes == 6_MiB);
  CHECK(cut[0].why == reason::split);
  CHECK(cut[0].used_again == 6_MiB);
  CHECK(cut[1].address == at + 8_MiB);
  CHECK(cut[1].bytes == 12_MiB);
  CHECK(cut[1].why == reason::never_used);
  CHECK(cut[1].used_again == 1_MiB);
}

TEST_CASE("GIVEN a segment got again at its address WHEN cut THEN it is fresh") {
  heap all;
  all.segment({used(2_MiB), cached(18_MiB)});
  requests program;
  program.allocate(at, 20_MiB);
  program.allocate(at, 2_MiB);
  program.log.events = {1, 10};
  device_history history;
  history.changes = {{0, at, 20_MiB, true}, {5, at, 20_MiB, false}, {9, at, 20_MiB, true}};
  const std::vector<piece> pieces = {{at + 2_MiB, 18_MiB, reason::split, 0, 0}};
  const auto cut = cut_never_used(pieces, all.found, program.log, history, 1);
  REQUIRE(cut.size() == 1);
  CHECK(cut[0].why == reason::never_used);
}

TEST_CASE("GIVEN expandable or others' memory WHEN cut THEN it stays as it is") {
  heap all;
  all.segment({.expandable = true}, {used(2_MiB), cached(18_MiB)});
  requests program;
  program.allocate(at, 2_MiB);
  for (const auto why : {reason::expandable_tails, reason::other_streams, reason::split}) {
    const std::vector<piece> pieces = {{at + 2_MiB, 18_MiB, why, 0, 0}};
    const auto cut = cut_never_used(pieces, all.found, program.log, {}, 0);
    REQUIRE(cut.size() == 1);
    CHECK(cut[0].why == why);
  }
}

}  // namespace memtrace::test
