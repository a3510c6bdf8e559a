// SPDX-License-Identifier: Apache-2.0
//
// Results that a loop collects and what comes after it reads.
#include "analyzer/judge/program/prove.h"
#include "tests/unit/catch.h"

using namespace memtrace::program;

namespace {

[[nodiscard]] answer asked_of(const std::string& text, const std::string& owner, bool is_over,
                              const std::vector<std::uint32_t>& running = {}) {
  question made;
  const bool is_attribute = owner.starts_with("attribute");
  made.variable = is_attribute ? "evaluator.items" : "items";
  made.running = running;
  made.container = "list";
  made.owner = is_attribute ? "global of __main__" : owner;
  if (is_attribute) made.holder = "Evaluator";
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
  ends_with_loop(
      of_ended_run(collects("", "    items = torch.cat(items)\n    print(items.shape)\n")), 4,
      "batches");
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

TEST_CASE("GIVEN an object that collects results in a loop THEN the loop's end is theirs") {
  const auto of_object = [](const std::string& in_loop, const std::string& use,
                            const std::vector<std::uint32_t>& running = {}) {
    return asked_of(
        "class Evaluator:\n"
        "    def __init__(self, model):\n"
        "        self.model, self.items = model, []\n"
        "    def gather(self, batches):\n"
        "        for x in batches:\n"
        "            self.items.append(self.model(x))\n" +
            in_loop +
            "        return torch.cat(self.items)\n"
            "evaluator = Evaluator(net)\n" +
            use,
        "attribute", true, running);
  };
  const std::string once = "print(evaluator.gather(make()).shape)\n";
  ends_with_loop(of_object("", once), 6, "batches");
  ends_with_loop(of_object("", once, {10, 7}), 6, "batches");
  // It was called from a file that is not seen.
  CHECK_FALSE(of_object("", once, {7}).proof);
  CHECK_FALSE(of_object("", once, {10, 3}).proof);  // nor in the loop
  CHECK_FALSE(of_object("", "for batch in make():\n    print(evaluator.gather(batch))\n").proof);
  CHECK_FALSE(of_object("            self.show(self.items)\n", once).proof);
  CHECK_FALSE(of_object("            print(self.items[-1])\n", once).proof);
  CHECK_FALSE(of_object("", once + "serve(evaluator.gather)\n").proof);
}

TEST_CASE("GIVEN a comprehension that runs THEN it ends with what it goes through") {
  const auto ends = [](const std::string& text) {
    return end_of_comprehension(source_file("import itertools, sys, torch\n" + text), 2, 7);
  };
  const auto found = ends("print(torch.cat([model(x.cuda()) for x, _ in loader]).shape)\n");
  REQUIRE(found);
  CHECK(found->kind == bound_kind::loop);
  CHECK(found->value == 7);
  CHECK(found->line == 2);
  CHECK(found->expression == "loader");
  CHECK_FALSE(ends("for x in loader: results.append(model(x))\n"));
  CHECK_FALSE(ends("a = [model(x) for x in itertools.count()]\n"));
  CHECK_FALSE(ends("a = [answer(x) for x in iter(requests.get, None)]\n"));
  CHECK_FALSE(
      ends("a = [model(x) for x in stream()]\n"
           "def stream():\n"
           "    while True:\n"
           "        yield next_one()\n"));
  CHECK_FALSE(ends("a = [model(x) for x in some] + [model(x) for x in others]\n"));
  CHECK_FALSE(
      ends("a = [answer(x) for x in requests()]\n"
           "def answer(x):\n"
           "    sys.exit() if x is None else model(x)\n"));
}

TEST_CASE("GIVEN a line that makes a container without a name THEN it may be that one") {
  const source_file file(
      "import torch\n"
      "print(torch.cat(list(map(answer, requests))))\n"
      "y = model(x)\n");
  CHECK(makes_container(file, 2));
  CHECK_FALSE(makes_container(file, 3));
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

TEST_CASE("GIVEN a loop that may not end by itself THEN what comes after it proves nothing") {
  const std::string after = "    print(torch.cat(items).mean())\n";
  const auto through = [&](const std::string& what, const std::string& in_loop = {},
                           const std::string& before = {}) {
    return of_ended_run(before +
                        "import itertools, sys\n"
                        "def stream():\n"
                        "    while True:\n"
                        "        yield make()\n"
                        "def main(model, queue):\n"
                        "    items = []\n"
                        "    for x in " +
                        what + ":\n        items.append(model(x))\n" + in_loop + after);
  };
  ends_with_loop(through("queue"), 8, "queue");
  CHECK_FALSE(through("itertools.count()").proof);
  CHECK_FALSE(through("iter(queue.get, None)").proof);
  CHECK_FALSE(through("stream()").proof);
  CHECK_FALSE(through("queue", "        if x is None:\n            sys.exit(0)\n").proof);
  CHECK_FALSE(through("queue", "        if x is None:\n            return\n").proof);
  // Somebody may call it while the loop runs.
  CHECK_FALSE(through("queue", "        leave = sys.exit\n").proof);
  ends_with_loop(through("queue", "        if len(items) == 40:\n            break\n"), 8, "queue");
  CHECK_FALSE(through("queue", "        if time.time() > end:\n            break\n").proof);
  CHECK_FALSE(through("forever", {}, "forever = itertools.cycle(data)\n").proof);
  CHECK_FALSE(through("requests", {}, "requests = iter(waiting.get, None)\n").proof);
  CHECK_FALSE(through("Stream()", {},
                      "class Stream:\n"
                      "    def __iter__(self):\n"
                      "        return self\n"
                      "    def __next__(self):\n"
                      "        return poll()\n")
                  .proof);
  // sys.exit(main()) leaves when all is done.
  ends_with_loop(of_ended_run("import sys\n" + collects("", after) + "sys.exit(main(net, data))\n"),
                 5, "batches");
}

TEST_CASE(
    "GIVEN a function that somebody else calls in a loop of his own THEN its loop is not all") {
  const std::string handles =
      "items = []\n"
      "def handle(batch):\n"
      "    for x in batch:\n"
      "        items.append(model(x))\n"
      "    print(torch.cat(items).mean())\n";
  CHECK_FALSE(of_ended_run(handles + "serve(handle)\n", "global of __main__").proof);
  CHECK_FALSE(of_ended_run("@route('/infer')\n" + handles, "global of __main__").proof);
  ends_with_loop(of_ended_run(handles + "handle(make())\n", "global of __main__"), 4, "batch");
}

TEST_CASE("GIVEN that nothing shows that all elements are read THEN the loop's end is no bound") {
  for (const std::string after :
       {"    print(items[-1].shape)\n", "    assert items is not None\n",
        "    print(type(items))\n", "    if items:\n        print(1)\n",
        "    if DUMP:\n        print(torch.cat(items).mean())\n",
        "    items = [torch.zeros(1)]\n    print(torch.cat(items).mean())\n",
        "    for one in items:\n        pass\n"}) {
    CHECK_FALSE(of_ended_run(collects("", after)).proof);
  }
  const std::string after = "    print(torch.cat(items).mean())\n";
  for (const std::string in_loop :
       {"        if x in items:\n            continue\n", "        items.pop(0)\n",
        "        print(globals()['items'][-1])\n", "        items.append(sum(items))\n"}) {
    CHECK_FALSE(of_ended_run(collects(in_loop, after)).proof);
  }
}
