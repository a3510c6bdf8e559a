// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/running_numbers.h"

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

}  // namespace memtrace::verdicts
