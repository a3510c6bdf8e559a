// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/shown_bound.h"

#include "tests/unit/catch.h"

using memtrace::verdicts::bound_in;
using memtrace::verdicts::bound_kind;
using memtrace::verdicts::program_text;

namespace {

// After how many steps; 0: nobody knows that it is emptied.
[[nodiscard]] std::uint64_t emptied(const std::vector<std::string>& lines,
                                    std::uint64_t steps = 16) {
  const auto found = bound_in(program_text(lines), {"model.cache", 2, 2, "", steps});
  return found && found->kind == bound_kind::emptied ? found->limit : 0;
}

}  // namespace

TEST_CASE("GIVEN a container that is emptied later THEN it fills until then") {
  CHECK(emptied({"if (step + 1) % 40 == 0:", "    cache.clear()"}) == 40);
  CHECK(emptied({"if words == 24:", "    scores, cache = zeros(8), None"}) == 24);
  CHECK(emptied({"def forget(self):", "    self.cache = None", "def step(self):",
                 "    if self.words % 32 == 0:", "        self.forget()"}) == 32);
  CHECK(emptied({"for epoch in range(4):", "    cache = []",
                 "    for _ in range(30):", "        cache.append(row)"}) == 30);
}

TEST_CASE(
    "GIVEN lists in a container, or an object, WHEN a new one takes its place THEN it is emptied") {
  const auto of = [](const char* variable, const std::vector<std::string>& lines) {
    auto program = lines;
    program.push_back("memory.items.append(past)");
    const auto found = bound_in(program_text(program), {variable, 2, 2, "", 16});
    return found && found->kind == bound_kind::emptied ? found->limit : 0;
  };
  CHECK(of("past[…]", {"if step % 40 == 0:", "    past = [[] for _ in layers]"}) == 40);
  CHECK(of("past['keys']", {"if step % 40 == 0:", "    past = {name: [] for name in names}"}) ==
        40);
  CHECK(of("memory.items", {"if step % 40 == 0:", "    memory = Memory(size)"}) == 40);
  CHECK(of("memory.items", {"if step % 40 == 0:", "    memory = memory_of(step)"}) == 0);
  CHECK(of("memory.items", {"if step % 10 == 0:", "    memory = Memory(size)"}) == 0);
}

TEST_CASE("GIVEN a time that has passed, or that nobody knows THEN it is a leak still") {
  CHECK(emptied({"if (step + 1) % 10 == 0:", "    cache.clear()"}) == 0);
  CHECK(emptied({"if done:", "    cache.clear()"}) == 0);
  CHECK(emptied({"cache = []", "for step in range(40):", "    cache.append(row)"}) == 0);
  CHECK(emptied({"def __init__(self):", "    self.reset()",
                 "def reset(self):", "    self.cache = []"}) == 0);
  CHECK(emptied({"if (step + 1) % 40 == 0:", "    others.clear()"}) == 0);
}

TEST_CASE("GIVEN lists in a list THEN emptying the inner name says nothing") {
  const auto found = bound_in(program_text({"if (step + 1) % 40 == 0:", "    cache.clear()"}),
                              {"records[…].cache", 2, 2, "", 16});
  CHECK(!found);
}

TEST_CASE("GIVEN a return before it while something is short THEN it is emptied when that is not") {
  const auto of = [](const char* guard) {
    return emptied({"def add(self, row):", "    self.rows.append(row)", guard, "        return",
                    "    self.cache = []"});
  };
  CHECK(of("    if len(self.rows) < 40:") == 40);
  CHECK(of("    if step % 40:") == 40);
  CHECK(of("    if step % 40 != 0:") == 40);
  CHECK(of("    if len(self.rows) < 10:") == 0);
  CHECK(of("    if row is None:") == 0);
  CHECK(of("    if len(self.rows) < 40 or done:") == 0);
}

TEST_CASE("GIVEN one round of the loop that empties it THEN it is not emptied again") {
  const auto of = [](const std::string& rounds, const std::vector<std::string>& others = {}) {
    std::vector<std::string> lines = {"for epoch in " + rounds + ":", "    cache = []",
                                      "    for _ in range(30):", "        cache.append(row)"};
    lines.insert(lines.end(), others.begin(), others.end());
    return emptied(lines);
  };
  CHECK(of("range(4)") == 30);
  CHECK(of("range(1)") == 0);
  CHECK(of("range(epochs)", {"epochs = 1"}) == 0);
  CHECK(of("range(1, epochs + 1)", {"epochs = 1"}) == 0);
  CHECK(of("range(args.max_epochs)",
           {"parser.add_argument('--max-epochs', type=int, default=1)"}) == 0);
  CHECK(of("range(args.max_epochs)",
           {"parser.add_argument('--max-epochs', type=int, default=10)"}) == 30);
  CHECK(of("range(self.rounds)",
           {"self.rounds = epochs", "parser.add_argument('--epochs', default=1)"}) == 0);
  const auto handed = [](const char* call) {
    return emptied(
        {"def fit(model, epochs):", "    for epoch in range(epochs):", "        cache = []",
         "        for _ in range(30):", "            cache.append(row)", call});
  };
  CHECK(handed("fit(model, 1)") == 0);
  CHECK(handed("fit(model, 5)") == 30);
}
