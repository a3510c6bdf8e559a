// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/found_objects.h"

#include "tests/unit/catch.h"

namespace memtrace::heap_scan {
namespace {

constexpr std::uint64_t an_hour = 3'600'000'000'000;

constexpr address object_number(std::uint64_t number) {
  return 0x7f00'0000'0000 + number * 48;
}

}  // namespace

TEST_CASE("each object is met once, and knows from where") {
  deadline far(an_hour);
  found_objects found(100'000, far);
  constexpr node count = 50'000;  // through several sizes of the table
  for (node i = 0; i < count; ++i) {
    REQUIRE(found.add(object_number(i), i == 0 ? found_objects::root(7) : i / 2) == i);
  }
  for (node i = 0; i < count; ++i) {
    REQUIRE(found.add(object_number(i), 0) == no_node);
    REQUIRE(found.find(object_number(i)) == i);
    REQUIRE(found.object(i) == object_number(i));
  }
  CHECK(found.find(object_number(count)) == no_node);
  CHECK(found.is_root(0));
  CHECK(found.root_of(0) == 7);
  CHECK_FALSE(found.is_root(9));
  CHECK(found.parent(9) == 4);
  CHECK(found.size() == count);
  CHECK_FALSE(found.is_full());
}

TEST_CASE("one object too many fills it, and what was met stays") {
  deadline far(an_hour);
  found_objects found(3, far);
  for (node i = 0; i < 3; ++i) REQUIRE(found.add(object_number(i), 0) == i);
  CHECK_FALSE(found.is_full());
  CHECK(found.add(object_number(3), 0) == no_node);
  CHECK(found.is_full());
  CHECK(found.find(object_number(2)) == 2);
  CHECK(found.find(object_number(3)) == no_node);
}

TEST_CASE("past the deadline no room is made, and what was met stays") {
  deadline over(0);
  found_objects found(1'000'000, over);
  node count = 0;
  while (found.add(object_number(count), 0) == count) ++count;
  CHECK(found.is_full());
  CHECK(count < 100'000);
  CHECK(found.find(object_number(count / 2)) == count / 2);
}

TEST_CASE("a deadline is over once its time is, and stays so until there is more") {
  deadline until(1);
  while (!until.is_over()) {
  }
  for (int i = 0; i < 100; ++i) REQUIRE(until.is_over());
  CHECK(until.was_over());
  until.extend(an_hour);
  for (int i = 0; i < 100; ++i) REQUIRE_FALSE(until.is_over());
}

}  // namespace memtrace::heap_scan
