// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/program_numbers.h"

#include "tests/unit/catch.h"

namespace memtrace::verdicts {

TEST_CASE("the number of a step is a new key each time, also through a function") {
  const program_text program(
      {"def keep(self, turn, x):", "    if turn not in self.kept:", "        self.kept[turn] = x",
       "def main():", "    for step in range(40):", "        store.keep(step, x)"});
  CHECK(puts_in_under_running_number(program, 2, "kept"));
}

TEST_CASE("a count that goes on is new each time, one that begins anew is not") {
  const program_text goes_on(
      {"def add(self, x):", "    self.count += 1", "    self.kept[self.count] = x"});
  CHECK(puts_in_under_running_number(goes_on, 2, "kept"));
  const program_text anew({"def add(self, x):", "    self.count += 1",
                           "    self.kept[self.count] = x",
                           "def begin(self):", "    self.count = 0"});
  CHECK_FALSE(puts_in_under_running_number(anew, 2, "kept"));
}

TEST_CASE(
    "the identity of an object is new each time; a remainder and a place in a data set are not") {
  const program_text program({"def add(self, batch, step):", "    self.kept[id(batch)] = 1",
                              "    self.kept[step % 8] = 1",
                              "def main():", "    for step in range(40): store.add(batch, step)"});
  CHECK(puts_in_under_running_number(program, 1, "kept"));
  CHECK_FALSE(puts_in_under_running_number(program, 2, "kept"));
  const program_text places(
      {"def main():", "    while True:", "        for place, batch in enumerate(loader):",
       "            kept[place] = batch"});
  CHECK_FALSE(puts_in_under_running_number(places, 3, "kept"));
}

TEST_CASE("names that all stand for one another are each asked a few times") {
  std::vector<std::string> lines = {"def main():", "    kept[name_0] = x"};
  constexpr int many = 40;
  for (int i = 0; i < many; ++i) {
    auto line = "    name_" + std::to_string(i) + " = (";
    for (int k = i % 4; k < many; k += 4)
      if (k != i) line += "name_" + std::to_string(k) + ", ";
    for (int repeated = 0; repeated < 10; ++repeated) lines.push_back(line + "0)");
  }
  CHECK_FALSE(puts_in_under_running_number(program_text(lines), 1, "kept"));
  lines.emplace_back("    name_36 += 1");
  CHECK(puts_in_under_running_number(program_text(lines), 1, "kept"));
}

}  // namespace memtrace::verdicts
