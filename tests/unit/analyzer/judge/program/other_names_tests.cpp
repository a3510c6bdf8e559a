// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/other_names.h"

#include "tests/unit/catch.h"

namespace memtrace::verdicts {

TEST_CASE("what a loop over several containers does to each is done to the container") {
  const program_text program({"def forget(self):", "    for kept in (self.moves, self.turns):",
                              "        kept.pop(0)", "    kept = 3"});
  const auto by_name = by_one_name(program, "moves");
  CHECK(by_name.at(2) == "moves.pop(0)");
  CHECK(by_name.at(3) == "kept = 3");
}

TEST_CASE("a local name of an element is an element") {
  const program_text program(
      {"def add(self, label, x):", "    seen = self.by_class.setdefault(label, [])",
       "    if len(seen) > 4: seen.pop(0)", "    unseen.pop(0)"});
  const auto by_name = by_one_name(program, "by_class");
  CHECK(by_name.at(2) == "if len(by_class[_]) > 4: by_class[_].pop(0)");
  CHECK(by_name.at(3) == "unseen.pop(0)");
}

TEST_CASE("a function that is handed the container calls it by its parameter") {
  const program_text program({"def trim(kept, most):", "    while len(kept) > most: del kept[0]",
                              "def step(self): trim(self.items, 40)"});
  CHECK(by_one_name(program, "items").at(1) == "while len(items) > most: del items[0]");
}

TEST_CASE("an attribute of another object is no other name") {
  const program_text program(
      {"def f(self):", "    kept = self.items", "    self.kept.clear()", "    kept.clear()"});
  const auto by_name = by_one_name(program, "items");
  CHECK(by_name.at(2) == "self.kept.clear()");
  CHECK(by_name.at(3) == "items.clear()");
}

TEST_CASE("a parameter without a name is no other name") {
  const program_text program({"def f(*, most): most.pop()", "f(self.items, 3)", "f(, self.items)"});
  CHECK(by_one_name(program, "items").at(1) == "f(self.items, 3)");
}

}  // namespace memtrace::verdicts
