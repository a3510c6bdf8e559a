// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/made_layouts.h"

namespace memtrace::test {

namespace {

using fragmentation::cause;
using fragmentation::diagnosis;
using fragmentation::reason;

[[nodiscard]] diagnosis wasting(std::uint64_t bytes, reason why) {
  diagnosis made;
  made.peak_reserved = 1000_MiB;
  made.lower_bound = made.lower_bound_active = 1000_MiB - bytes;
  auto& peak = made.at_peak.emplace();
  peak.at.reserved = 1000_MiB;
  peak.at.allocated = 1000_MiB - bytes;
  peak.at.unused[why] = bytes;
  return made;
}

}  // namespace

TEST_CASE("GIVEN less than a tenth unused WHEN concluded THEN it does not matter") {
  auto healthy = wasting(99_MiB, reason::split);
  conclude(healthy, 0);
  CHECK_FALSE(healthy.matters);
  CHECK(healthy.why == cause::none);
  CHECK(healthy.summary.empty());
  auto wasteful = wasting(100_MiB, reason::split);
  conclude(wasteful, 0);
  CHECK(wasteful.matters);
  CHECK(wasteful.why == cause::split);
  CHECK(wasteful.summary.find("100 MiB are unused") != std::string::npos);
}

TEST_CASE("GIVEN little of a large device WHEN concluded THEN it does not matter") {
  auto found = wasting(200_MiB, reason::split);
  conclude(found, 24 * 1024_MiB);
  CHECK_FALSE(found.matters);
  conclude(found, 16 * 1024_MiB);
  CHECK(found.matters);
}

TEST_CASE("GIVEN a blocked request that ran out of memory WHEN concluded THEN it matters") {
  auto found = wasting(1_MiB, reason::split);
  found.out_of_memory = wasting(2_MiB, reason::survivors).at_peak;
  found.blocked.largest.emplace_back().out_of_memory = true;
  conclude(found, 0);
  CHECK(found.matters);
  CHECK(found.why == cause::survivors);
}

TEST_CASE("GIVEN whole free segments WHEN used again THEN requests change, else they grow") {
  auto found = wasting(400_MiB, reason::empty_segments);
  conclude(found, 0);
  CHECK(found.why == cause::growing_requests);
  found.at_peak->used_again[reason::empty_segments] = 300_MiB;
  conclude(found, 0);
  CHECK(found.why == cause::changing_requests);
}

TEST_CASE("GIVEN freed blocks that streams hold WHEN concluded THEN they count as waste") {
  auto found = wasting(300_MiB, reason::pending);
  found.lower_bound_active = 1000_MiB;
  conclude(found, 0);
  CHECK(found.why == cause::pending_frees);
}

TEST_CASE("GIVEN several parts WHEN concluded THEN the largest is the cause") {
  auto found = wasting(300_MiB, reason::other_streams);
  found.at_peak->at.unused[reason::split] = 299_MiB;
  conclude(found, 0);
  CHECK(found.why == cause::other_streams);
}

TEST_CASE("GIVEN no layout WHEN concluded THEN the cause is unknown and nobody is alarmed") {
  auto found = wasting(900_MiB, reason::split);
  found.at_peak.reset();
  found.inexact = "events were dropped";
  conclude(found, 0);
  CHECK(found.why == cause::unknown);
  CHECK_FALSE(found.matters);
}

}  // namespace memtrace::test
