// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/held_path.h"

#include "tests/unit/catch.h"

namespace memtrace::verdicts {

namespace {

levels_seen seen(std::string_view first, std::string_view latest) {
  return {parse_levels(first), parse_levels(latest)};
}

}  // namespace

TEST_CASE("levels of a path are read with bounds and keys") {
  const auto levels = parse_levels("45,,3<4n/8i");
  REQUIRE(levels.size() == 3);
  CHECK(levels[0].outer.length == 45);
  CHECK(levels[0].outer.keys == 0);
  CHECK(levels[1].outer.length == 0);
  CHECK(levels[2].outer.length == 3);
  CHECK(levels[2].outer.most == 4);
  CHECK(levels[2].outer.keys == 'n');
  CHECK(levels[2].inner.length == 8);
  CHECK(levels[2].inner.keys == 'i');
  CHECK(parse_levels("").empty());
  CHECK(parse_levels("7,").size() == 2);
}

TEST_CASE("of containers in one another the one that gets longer is told") {
  const auto removed = seen("3,4<4", "11,4<4").growing("tracker.removed[…].crops[…]");
  REQUIRE(removed);
  CHECK(removed->variable == "tracker.removed");
  CHECK(removed->length == 11);
  CHECK_FALSE(removed->in_elements);

  const auto crops = seen("3,2<4", "3,4<4").growing("tracker.removed[…].crops[…]");
  REQUIRE(crops);
  CHECK(crops->variable == "tracker.removed[…].crops");
  CHECK(crops->most == 4);
}

TEST_CASE("elements that get longer are told apart from the container of theirs") {
  const auto lists = seen("3i/12", "5i/80").growing("replay.by_class[…]");
  REQUIRE(lists);
  CHECK(lists->variable == "replay.by_class");
  CHECK(lists->in_elements);
  CHECK(lists->length == 80);

  const auto users = seen("3k/4", "30k/4").growing("by_user['ada'][…]");
  CHECK_FALSE(users);  // of two items on the path one has been told
  const auto more_users = seen("3k,4", "30k,4").growing("by_user['ada'][…]");
  REQUIRE(more_users);
  CHECK(more_users->variable == "by_user");
  CHECK(more_users->keys == 'k');
}

TEST_CASE("nothing gets longer where what was there holds more") {
  CHECK(seen("45,6", "45,6").are_as_long_as_before());
  CHECK_FALSE(seen("45,6", "45,7").are_as_long_as_before());
  CHECK_FALSE(seen("45,", "45,").are_as_long_as_before());  // one is not known
  CHECK_FALSE(seen("", "").are_as_long_as_before());
  CHECK_FALSE(seen("2/2", "2/3").are_as_long_as_before());
}

TEST_CASE("a path with one container that was seen once grows in that") {
  const levels_seen once{parse_levels("9n"), parse_levels("9n")};
  const auto only = once.only("cache[…]", 18);
  REQUIRE(only);
  CHECK(only->variable == "cache");
  CHECK(only->keys == 'n');
  const levels_seen two{parse_levels("29i,4"), parse_levels("29i,4")};
  CHECK_FALSE(two.only("hooks[…].maps[…]", 12));
  const auto as_many_as_blocks = two.only("hooks[…].maps[…]", 29);
  REQUIRE(as_many_as_blocks);
  CHECK(as_many_as_blocks->variable == "hooks");
}

}  // namespace memtrace::verdicts
