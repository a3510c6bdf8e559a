// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/dictionary.h"

#include <string>

#include "memtrace/trace_format.h"
#include "tests/unit/catch.h"

using namespace memtrace::trace;

namespace {

constexpr auto defined = dictionary::outcome::defined;

}  // namespace

TEST_CASE("GIVEN texts that are not UTF-8 WHEN defined THEN each wrong byte is one U+FFFD") {
  dictionary names;
  REQUIRE(names.define_text("good \u00e9") == defined);
  REQUIRE(names.define_text("bad \xff, cut \xe2\x82") == defined);
  REQUIRE(names.define_text("") == defined);
  REQUIRE(names.define_text("\xed\xa0\x80") == defined);  // half of a surrogate pair
  CHECK(names[text_id{1}] == "good \u00e9");
  CHECK(names[text_id{2}] == "bad \uFFFD, cut \uFFFD\uFFFD");
  CHECK(names[text_id{3}].empty());
  CHECK(names[text_id{4}] == "\uFFFD\uFFFD\uFFFD");
}

TEST_CASE("GIVEN a text of the greatest length that is all wrong THEN it is kept, repaired") {
  dictionary names;
  const std::string longest(memtrace::format::max_text_bytes, '\xff');
  REQUIRE(names.define_text("before") == defined);
  REQUIRE(names.define_text(longest) == defined);
  REQUIRE(names.define_text("after") == defined);
  CHECK(names[text_id{1}] == "before");
  CHECK(names[text_id{2}].size() == 3 * longest.size());
  CHECK(names[text_id{2}].ends_with("\uFFFD"));
  CHECK(names[text_id{3}] == "after");
  CHECK(names.define_text(longest + "x") == dictionary::outcome::too_many);
}

TEST_CASE("GIVEN what a trace does not have WHEN it is added THEN numbers mean what they meant") {
  using outcome = memtrace::trace::dictionary::outcome;
  memtrace::trace::dictionary names;
  REQUIRE(names.define_text("app") == outcome::defined);
  REQUIRE(names.define_text("main+0x10") == outcome::defined);
  REQUIRE(names.define_frame(1, 2, 0) == outcome::defined);
  const auto frame = names.add_frame("main.cpp", "main", 7);
  const auto shown = names.add_stack({}, frame);
  REQUIRE(names.define_stack_as(shown) == outcome::defined);
  REQUIRE(names.define_text("train.py") == outcome::defined);
  CHECK(names[names.text_of(3)] == "train.py");
  CHECK_FALSE(names.knows_text(4));
  REQUIRE(names.define_frame(names.text_of(3).value, names.text_of(1).value, 5) ==
          outcome::defined);
  CHECK(names[names[names.frame_of(2)].file] == "train.py");
  CHECK_FALSE(names.knows_frame(3));
  CHECK(names.stack_of(1) == shown);
  CHECK(names.number_of(shown) == 1);
  const auto added = names.add_stack(shown, frame);
  CHECK(names.number_of(added) == 0);
  CHECK_FALSE(names.knows_stack(2));
}
