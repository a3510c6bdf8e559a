// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/audit/witness_text.h"

#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

format::file_header header() {
  format::file_header one{};
  one.start_monotonic_ns = 1000;
  return one;
}

}  // namespace

TEST_CASE("A witness's text is read", "[audit]") {
  const auto found =
      audit::parse_witness("2\0375\0371500\03777\0371\0374294967295\0370\03742", header());
  REQUIRE(found);
  CHECK(found->operation == 2);
  CHECK(found->kind == audit::memory_kind::managed);
  CHECK(found->time_ns == 500);
  CHECK(found->correlation == 77);
}

TEST_CASE("CUPTI may have begun before the trace", "[audit]") {
  const auto found = audit::parse_state("400\037130001\037", header());
  REQUIRE(found);
  CHECK(found->time_ns == -600);
  CHECK(found->version == 130001);
  CHECK(found->reason.empty());
}

TEST_CASE("A reason is read", "[audit]") {
  const auto found = audit::parse_state("400\0370\037another profiler", header());
  REQUIRE(found);
  CHECK(found->reason == "another profiler");
}

TEST_CASE("What is no such text is refused", "[audit]") {
  for (const auto* const text :
       {"", "1", "1\0373", "1\0373\037x\0371", "\037\037\037", "-1\0371\0371\0371",
        "99999999999999999999\0371\0371\0371", "1 \0371\0371\0371"}) {
    CAPTURE(text);
    CHECK_FALSE(audit::parse_witness(text, header()));
  }
  CHECK_FALSE(audit::parse_state("", header()));
  CHECK_FALSE(audit::parse_state("7", header()));
}
