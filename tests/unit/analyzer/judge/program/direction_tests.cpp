// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/key_domain.h"

#include "tests/unit/catch.h"

using memtrace::verdicts::direction;
using memtrace::verdicts::direction_of;
using memtrace::verdicts::program_text;
using memtrace::verdicts::rises;

TEST_CASE("a number goes up, down, or through a loop") {
  CHECK(direction_of(program_text({"step += 1"}), "self.step") == direction::up);
  CHECK(direction_of(program_text({"step = step + 1"}), "step") == direction::up);
  CHECK(direction_of(program_text({"left -= 1"}), "left") == direction::down);
  CHECK(direction_of(program_text({"for step in range(9):"}), "step") == direction::loop);
  CHECK(direction_of(program_text({"for step, x in enumerate(xs):"}), "step") == direction::loop);
  CHECK(direction_of(program_text({"for step, x in enumerate(xs):"}), "x") == direction::none);
  CHECK(direction_of(program_text({"x = f(x)"}), "x") == direction::none);
}

TEST_CASE("a number that is made of one goes as that does") {
  CHECK(rises(direction_of(
      program_text({"for step in range(9):", "    task = min(step // 6, most)"}), "task")));
  CHECK(rises(
      direction_of(program_text({"for step in range(9):", "    task = (step + 1) // 6"}), "task")));
  CHECK(!rises(direction_of(program_text({"bucket = min(length // 8, most)"}), "bucket")));
}
