// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/module_uses.h"

#include <initializer_list>
#include <string>

#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

constexpr trace::object_id model{7};
constexpr trace::object_id another{8};

// The place of weights of these names, of one model, that are there after ten steps.
[[nodiscard]] std::string place_of(std::initializer_list<const char*> names) {
  trace::dictionary texts;
  verdicts::module_uses uses(texts);
  for (const auto* name : names) uses.kept(0, 3, model, name, 1024, 10);
  return uses.part_of(0, 3, 10);
}

}  // namespace

TEST_CASE("GIVEN weights of several modules THEN what differs in their names is an item") {
  CHECK(place_of({"adapters.anna.weight", "adapters.bert.weight"}) == "adapters[…]");
  CHECK(place_of({"adapters.anna.down.weight", "adapters.bert.up.weight"}) == "adapters[…][…]");
  CHECK(place_of({"adapters.anna.down.weight", "adapters.bert.down.weight"}) == "adapters[…]");
  CHECK(place_of({"0.parts.anna.weight", "2.parts.anna.weight", "0.parts.bert.weight"}) ==
        "[…].parts[…]");
  CHECK(place_of({"head.weight", "head.bias"}).empty());
  CHECK(place_of({"weight"}).empty());
  CHECK(place_of({}).empty());
}

TEST_CASE("GIVEN modules put into others of a name time and again THEN they wrap each other") {
  const auto wrap_each_other = [](std::initializer_list<const char*> names_of_one) {
    trace::dictionary texts;
    verdicts::module_uses uses(texts);
    uses.kept(0, 3, model, "0.down.weight", 1024, 10);
    uses.kept(0, 4, another, "0.down.weight", 1024, 10);
    uses.kept(0, 5, model, "0.down.weight", 1024, 6);  // gone since
    std::uint32_t number = 0;
    for (const auto* name : names_of_one) {
      REQUIRE(texts.define_text(name) == trace::dictionary::outcome::defined);
      uses.named({.object = trace::object_id{12}, .root = model, .path = trace::text_id{++number}});
    }
    CHECK_FALSE(uses.wrap_each_other(0, 4, 10));
    CHECK_FALSE(uses.wrap_each_other(0, 5, 10));
    return uses.wrap_each_other(0, 3, 10);
  };
  CHECK(wrap_each_other({"0.down", "0.base.down", "0.base.base.down", "0.base.base.base.down",
                         "0.base.base.base.base.down"}));
  CHECK_FALSE(
      wrap_each_other({"0.down", "0.base.down", "0.base.base.down", "0.base.base.base.down"}));
  CHECK_FALSE(wrap_each_other({"0.base.base.base.base.down"}));  // it is written so
  CHECK_FALSE(wrap_each_other({"0", "0.0", "0.0.0", "0.0.0.0", "0.0.0.0.0", "0.0.0.0.0.0"}));
  CHECK_FALSE(wrap_each_other({"a.b", "a.b.a", "a.b.a.b", "a.b.a.b.a", "a.b.a.b.a.b"}));
}

TEST_CASE("GIVEN weights of a model WHEN it has run lately THEN they are in a running model") {
  trace::dictionary texts;
  verdicts::module_uses uses(texts);
  uses.kept(0, 3, model, "heads.0.weight", 1024, 10);
  uses.kept(0, 3, model, "heads.1.weight", 1024, 10);
  CHECK_FALSE(uses.model_runs(0, 3, 10));
  uses.ran(model, 4);
  CHECK_FALSE(uses.model_runs(0, 3, 10));
  uses.ran(model, 9);
  CHECK(uses.model_runs(0, 3, 10));
  CHECK(uses.part_of(0, 3, 10) == "heads[…]");
  uses.kept(0, 3, another, "heads.0.weight", 1024, 10);
  CHECK(uses.part_of(0, 3, 10).empty());  // of two models
  verdicts::module_uses gone(texts);
  gone.kept(0, 3, model, "heads.0.weight", 1024, 6);
  gone.ran(model, 9);
  CHECK_FALSE(gone.model_runs(0, 3, 10));
}

TEST_CASE("GIVEN modules that run again after others have THEN they take turns") {
  trace::dictionary texts;
  verdicts::module_uses uses(texts);
  const trace::module_event first{.object = model, .root = model, .path = {}};
  uses.named(first);
  uses.kept(0, 3, model, "weight", 1024, 10);
  uses.ran(model, 1);
  uses.ran(model, 1);
  uses.ran(model, 2);
  CHECK_FALSE(uses.take_turns(0, 3));
  uses.ran(model, 6);
  CHECK(uses.take_turns(0, 3));
  CHECK_FALSE(uses.take_turns(0, 4));
}
