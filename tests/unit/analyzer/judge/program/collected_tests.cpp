// SPDX-License-Identifier: Apache-2.0
//
// Results that a loop collects and what comes after it reads.
#include "analyzer/judge/program/prove.h"
#include "tests/unit/catch.h"

using namespace memtrace::program;

namespace {

[[nodiscard]] answer asked_of(const std::string& text, const std::string& owner, bool is_over) {
  question made;
  made.variable = "items";
  made.container = "list";
  made.owner = owner;
  made.length = 5;
  made.steps = 20;
  made.is_over = is_over;
  const source_file file("import torch\n" + text);
  return prove(file, "train.py", made);
}

// A run that has trained nothing and has ended well.
[[nodiscard]] answer of_ended_run(const std::string& text,
                                  const std::string& owner = "local of main") {
  return asked_of(text, owner, true);
}

void ends_with_loop(const answer& found, std::uint32_t line, const std::string& expression) {
  REQUIRE(found.proof);
  CHECK(found.proof->kind == bound_kind::loop);
  CHECK(found.proof->value == 5);
  CHECK(found.proof->file == "train.py");
  CHECK(found.proof->line == line);
  CHECK(found.proof->expression == expression);
}

[[nodiscard]] std::string collects(const std::string& in_loop, const std::string& after) {
  return "def main(model, batches):\n"
         "    items = []\n"
         "    for x in batches:\n"
         "        items.append(model(x))\n" +
         in_loop + after;
}

}  // namespace

TEST_CASE("GIVEN results that a loop collects WHEN they are read after it THEN its end is theirs") {
  const auto text = collects("", "    print(torch.cat(items).mean())\n");
  ends_with_loop(of_ended_run(text), 4, "batches");
  CHECK_FALSE(asked_of(text, "local of main", false).proof);  // it trains, or goes on
  const auto scores = collects("", "    for one in items:\n        print(one.max().item())\n");
  ends_with_loop(of_ended_run(scores), 4, "batches");
}

TEST_CASE("GIVEN results of a function that a loop calls THEN the loop's end is theirs") {
  const auto found = of_ended_run(
      "items = []\n"
      "def answer(x):\n"
      "    items.append(model(x))\n"
      "def main(batches):\n"
      "    for x in batches:\n"
      "        answer(x)\n"
      "def show():\n"
      "    print(torch.stack(items).mean())\n"
      "main(make())\n"
      "show()\n",
      "global of __main__");
  ends_with_loop(found, 6, "batches");
}

TEST_CASE("GIVEN what nothing reads after the loop, or the loop reads THEN its end is no bound") {
  CHECK_FALSE(of_ended_run(collects("", "")).proof);
  CHECK_FALSE(of_ended_run(collects("", "    print(len(items))\n")).proof);
  CHECK_FALSE(of_ended_run(collects("        context = torch.cat(items)\n",
                                    "    print(torch.cat(items).mean())\n"))
                  .proof);
  CHECK_FALSE(
      of_ended_run("def latest(items):\n"
                   "    return torch.cat(items)\n" +
                   collects("        latest(items)\n", "    print(torch.cat(items).mean())\n"))
          .proof);
  CHECK_FALSE(of_ended_run("def main(model, queue):\n"
                           "    items = []\n"
                           "    while True:\n"
                           "        items.append(model(queue.get()))\n"
                           "    print(torch.cat(items).mean())\n")
                  .proof);
  // Somebody may read them while the loop runs.
  CHECK_FALSE(
      of_ended_run(collects("        model.seen(items)\n", "    print(torch.cat(items).mean())\n"))
          .proof);
}
