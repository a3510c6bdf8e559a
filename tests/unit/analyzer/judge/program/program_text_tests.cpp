// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/program_text.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::assigned_to;
using memtrace::verdicts::parameters_of;
using memtrace::verdicts::program_text;

TEST_CASE("the parameters of a definition end with its own bracket, and are names alone") {
  CHECK(parameters_of("def block(c): return nn.Sequential(nn.ReLU(), net(c))") ==
        std::vector<std::string>{"c"});
  CHECK(parameters_of("def add(self, item: dict[str, int], *rest, most=f(3), **more) -> None:") ==
        std::vector<std::string>{"item", "rest", "most", "more"});
  CHECK(parameters_of("def add(cls, x, *, most):") == std::vector<std::string>{"x", "most"});
  CHECK(parameters_of("def broken").empty());
}

TEST_CASE("a function with type parameters has its name alone") {
  const program_text program({"def first[T](rows: list[T]) -> T:", "    return rows[0]"});
  CHECK(program.name_of_function(1) == "first");
}

TEST_CASE("of several statements on a line the last gives the value") {
  CHECK(assigned_to("made", "out = cat(made); made, count = [], 0") == "[]");
  CHECK(assigned_to("out", "out = cat(made); made, count = [], 0") == "cat(made)");
  CHECK(assigned_to("text", "text = 'a; b'") == "'a; b'");
}

TEST_CASE("what leaves a block before a line is known") {
  const program_text program({"def add(self, x):", "    if x is None:", "        return",
                              "    self.rows.append(x)", "    if full(x):", "        warn(x)",
                              "    self.clear()"});
  CHECK(program.left_before(3) == 1);
  CHECK(program.left_before(6) == 1);
  CHECK(!program.left_before(2));
  CHECK(!program.left_before(1));
}
