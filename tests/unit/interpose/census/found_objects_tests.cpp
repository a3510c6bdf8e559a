// SPDX-License-Identifier: Apache-2.0
#include "interpose/census/found_objects.h"

#include "tests/unit/catch.h"

namespace memtrace::census {
namespace {

constexpr address object_number(std::uint64_t number) {
  return 0x7f00'0000'0000 + number * 48;
}

}  // namespace

TEST_CASE("each object is met once, and knows from where") {
  found_objects found(100'000);
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
  found_objects found(3);
  for (node i = 0; i < 3; ++i) REQUIRE(found.add(object_number(i), 0) == i);
  CHECK_FALSE(found.is_full());
  CHECK(found.add(object_number(3), 0) == no_node);
  CHECK(found.is_full());
  CHECK(found.find(object_number(2)) == 2);
  CHECK(found.find(object_number(3)) == no_node);
}

}  // namespace memtrace::census
