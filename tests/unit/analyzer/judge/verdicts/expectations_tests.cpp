// SPDX-License-Identifier: Apache-2.0
//
// What people write of growth that they expect, and which memory that means.
#include "analyzer/judge/verdicts/expectations.h"

#include <string>
#include <variant>
#include <vector>

#include "analyzer/judge/verdicts/verdict.h"
#include "memtrace/trace_format.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using verdicts::covers;
using verdicts::expectation;

namespace {

[[nodiscard]] std::vector<expectation> rules_of(std::string_view text) {
  auto read = verdicts::parse_suppressions(text, "my.supp");
  REQUIRE(std::holds_alternative<std::vector<expectation>>(read));
  return std::get<std::vector<expectation>>(std::move(read));
}

[[nodiscard]] verdicts::bad_line complaint_of(std::string_view text) {
  const auto read = verdicts::parse_suppressions(text, "my.supp");
  REQUIRE(std::holds_alternative<verdicts::bad_line>(read));
  return std::get<verdicts::bad_line>(read);
}

[[nodiscard]] expectation pattern(std::string what) {
  expectation made;
  made.what = std::move(what);
  return made;
}

[[nodiscard]] expectation object(verdicts::expected_object what) {
  expectation made;
  made.of_objects = true;
  made.objects.push_back(std::move(what));
  return made;
}

// trainer.state.history[…]['loss'], of a Trainer, whose state is a State.
[[nodiscard]] verdicts::retainer history() {
  verdicts::retainer made;
  made.path = "trainer.state.history[…]['loss']";
  made.owner = "global of __main__";
  made.file = "/srv/ada/train.py";
  made.classes = {"Trainer", "State"};
  return made;
}

[[nodiscard]] bool is_covered_by(const char* what) {
  return covers(pattern(what), history());
}

}  // namespace

TEST_CASE("a file has one rule a line, with why, where that is said") {
  const auto rules = rules_of(
      "# growth that we know of\n"
      "\n"
      "growth: self.history  # plotted at the end\r\n"
      "  growth:*.py:31\n"
      "growth: a pattern with blanks # \n");
  REQUIRE(rules.size() == 3);
  CHECK(rules[0].what == "self.history");
  CHECK(rules[0].why == "plotted at the end");
  CHECK(rules[0].file == "my.supp");
  CHECK(rules[0].line == 3);
  CHECK(rules[0].by == verdicts::said_by::file);
  CHECK(rules[1].what == "*.py:31");
  CHECK(rules[1].why.empty());
  CHECK(rules[1].line == 4);
  CHECK(rules[2].what == "a pattern with blanks");
  CHECK(rules_of("").empty());
  CHECK(rules_of("# nothing").empty());
}

TEST_CASE("a line that is no rule is named by its number") {
  CHECK(complaint_of("growth: x\nleak: y\ngrowth: z\n").line == 2);
  CHECK(complaint_of("leak: y").what ==
        "\"leak: y\" is no suppression: write growth: PATTERN  # why");
  CHECK(complaint_of("growth:  # why").what ==
        "growth: has no pattern: write growth: PATTERN  # why");
  CHECK(complaint_of("history").line == 1);
}

TEST_CASE("a path covers what is in it, and not what only begins alike") {
  for (const char* const what :
       {"trainer.state.history", "trainer.state", "trainer", "trainer.state.history[…]",
        "trainer.state.history[…]['loss']", "*.history", "trainer.*"}) {
    CAPTURE(what);
    CHECK(is_covered_by(what));
  }
  for (const char* const what : {"trainer.state.hist", "state", "history", "state.history",
                                 "trainer.states", "x.*", "loss"}) {
    CAPTURE(what);
    CHECK_FALSE(is_covered_by(what));
  }
}

TEST_CASE("a path may begin at the class of any object on it") {
  for (const char* const what : {"State.history", "Trainer.state", "Trainer.state.history", "State",
                                 "Trainer", "St*.hist*"}) {
    CAPTURE(what);
    CHECK(is_covered_by(what));
  }
  for (const char* const what : {"Trainer.history", "State.state", "Other.history"}) {
    CAPTURE(what);
    CHECK_FALSE(is_covered_by(what));
  }
}

TEST_CASE("GIVEN dots and brackets in a key WHEN a path is cut THEN not there") {
  verdicts::retainer held_by;
  held_by.path = "model.masks['layer.0[x]'].kept[…]";
  held_by.classes = {"Net", "Mask"};
  CHECK(covers(pattern("model.masks['layer.0[x]']"), held_by));
  CHECK(covers(pattern("Mask.kept"), held_by));
  CHECK_FALSE(covers(pattern("model.masks['layer"), held_by));
}

TEST_CASE("GIVEN a trace without classes THEN paths alone cover") {
  auto held_by = history();
  held_by.classes.clear();
  CHECK(covers(pattern("trainer.state"), held_by));
  CHECK_FALSE(covers(pattern("State.history"), held_by));
}

TEST_CASE("what no name leads to is covered by nothing, whatever its class") {
  verdicts::retainer lost;
  lost.path = "Link.thing";
  lost.flags = format::held_unreachable;
  CHECK_FALSE(covers(pattern("*"), lost));
  CHECK_FALSE(covers(pattern("Link"), lost));
}

TEST_CASE("a line is named with as much of its path as is wanted, or by its function") {
  const std::vector<code::source_frame> frames = {
      {"/venv/lib/python3.11/site-packages/torch/nn/functional.py", 7, "relu", false},
      {"/srv/ada/src/train.py", 31, "validate", true},
      {"/srv/ada/src/main.py", 5, "main", true}};
  for (const char* const what : {"train.py:31", "src/train.py:31", "/srv/ada/src/train.py:31",
                                 "*.py:31", "train.py:*", "validate", "val*"}) {
    CAPTURE(what);
    CHECK(covers(pattern(what), frames));
  }
  // Neither a library's line, nor one that only led there: all would be expected that main does.
  for (const char* const what :
       {"rain.py:31", "train.py:3", "train.py:310", "train.py", "relu", "main", "main.py:5"}) {
    CAPTURE(what);
    CHECK_FALSE(covers(pattern(what), frames));
  }
}

TEST_CASE("a subject goes by its whole name") {
  CHECK(verdicts::covers_subject(pattern("host"), "host"));
  CHECK(verdicts::covers_subject(pattern("host*"), "host:workers"));
  CHECK_FALSE(verdicts::covers_subject(pattern("host"), "host:workers"));
}

TEST_CASE("an object is found by the variable that led to it") {
  const verdicts::expected_object said{
      "trainer.state", "global of __main__", "/srv/ada/train.py", 0, "", false};
  CHECK(covers(object(said), history()));
  auto other = said;
  other.owner = "local of fit";
  CHECK_FALSE(covers(object(other), history()));
  other = said;
  other.file = "/srv/ada/other.py";
  CHECK_FALSE(covers(object(other), history()));
  other = said;
  other.line = 3;  // another function of that name
  CHECK_FALSE(covers(object(other), history()));
  other = said;
  other.path = "trainer.sta";
  CHECK_FALSE(covers(object(other), history()));
}

TEST_CASE("an attribute is found wherever an object of its class is") {
  // Said in its own __init__, when nothing else led to it.
  const verdicts::expected_object said{
      "self.history", "local of __init__", "/srv/ada/state.py", 12, "State", false};
  CHECK(covers(object(said), history()));
  auto other = said;
  other.holder = "Trainer";
  CHECK_FALSE(covers(object(other), history()));
  other = said;
  other.path = "self.state";
  CHECK_FALSE(covers(object(other), history()));
  other = said;
  other.holder.clear();
  CHECK_FALSE(covers(object(other), history()));
}

TEST_CASE("in a tensor nothing is but its gradient and its graph") {
  verdicts::expected_object said{"model", "local of main", "/srv/ada/train.py", 3, "", true};
  verdicts::retainer held_by;
  held_by.owner = "local of main";
  held_by.file = "/srv/ada/train.py";
  held_by.line = 3;
  for (const char* const path : {"model", "model.grad", "model.grad_fn"}) {
    held_by.path = path;
    CHECK(covers(object(said), held_by));
  }
  held_by.path = "model.masks[…]";
  CHECK_FALSE(covers(object(said), held_by));
  said.is_tensor = false;
  CHECK(covers(object(said), held_by));
}
