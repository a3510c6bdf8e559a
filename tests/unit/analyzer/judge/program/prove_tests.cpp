// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/prove.h"

#include "tests/unit/catch.h"

using namespace memtrace::program;

namespace {

[[nodiscard]] question about(std::string variable, std::string container = "list") {
  question made;
  made.variable = std::move(variable);
  made.container = std::move(container);
  made.holder = "Store";
  made.owner = "local of main";
  made.length = 5;
  made.steps = 20;
  return made;
}

[[nodiscard]] answer asked(const std::string& text, const question& what) {
  const source_file file(text);
  return prove(file, "train.py", what);
}

// A class with one method that is called in the loop of the program.
[[nodiscard]] std::string store(const std::string& body, const std::string& before = {}) {
  return "class Store:\n"
         "    def __init__(self, capacity):\n"
         "        self.capacity = capacity\n"
         "        self.count = 0\n"
         "        self.items = []\n" +
         before + "    def put(self, x, key=None):\n" + body +
         "\n"
         "def main():\n"
         "    store = Store(40)\n"
         "    for step in range(1000):\n"
         "        store.put(make(step))\n";
}

[[nodiscard]] answer of_store(const std::string& body, std::string numbers = "capacity=40",
                              std::string container = "list", const std::string& before = {}) {
  auto what = about("store.items", std::move(container));
  what.numbers = std::move(numbers);
  return asked(store(body, before), what);
}

void is_bounded(const answer& found, bound_kind kind, std::uint64_t value) {
  REQUIRE(found.proof);
  CHECK(found.proof->kind == kind);
  CHECK(found.proof->value == value);
  CHECK(found.proof->file == "train.py");
  CHECK(found.proof->line != 0);
  CHECK_FALSE(found.proof->expression.empty());
}

}  // namespace

TEST_CASE("GIVEN a list that is only appended to THEN nothing bounds it and nothing is in doubt") {
  const auto found = of_store("        self.items.append(x)\n");
  CHECK(found.is_seen);
  CHECK_FALSE(found.proof);
  CHECK_FALSE(found.why);
}

TEST_CASE("GIVEN a condition on the length around what grows THEN that is the bound") {
  const auto found = of_store(
      "        if len(self.items) < self.capacity:\n"
      "            self.items.append(x)\n");
  is_bounded(found, bound_kind::length, 40);
  CHECK(found.proof->line == 7);
  CHECK(found.proof->expression == "len(self.items) < self.capacity");
  is_bounded(of_store("        if not len(self.items) >= 40:\n"
                      "            self.items.append(x)\n"),
             bound_kind::length, 40);
  is_bounded(of_store("        if 40 <= len(self.items):\n"
                      "            return\n"
                      "        self.items.append(x)\n"),
             bound_kind::length, 40);
}

TEST_CASE(
    "GIVEN a limit that no heap scan saw WHEN its one caller says it THEN that is the bound") {
  is_bounded(of_store("        if len(self.items) < self.capacity:\n"
                      "            self.items.append(x)\n",
                      ""),
             bound_kind::length, 40);
}

TEST_CASE("GIVEN a condition that does not hold it THEN it is in doubt") {
  // The length is asked for once, and then many come.
  const auto many = of_store(
      "        if len(self.items) < self.capacity:\n"
      "            for one in x:\n"
      "                self.items.append(one)\n");
  CHECK_FALSE(many.proof);
  REQUIRE(many.why);
  CHECK(many.why->kind == doubt_kind::measured);
  // Or something else lets it through.
  CHECK_FALSE(of_store("        if x.good or len(self.items) < self.capacity:\n"
                       "            self.items.append(x)\n")
                  .proof);
  // Nobody says what the limit is, or it moves.
  auto unsaid = store(
      "        if len(self.items) < self.capacity:\n"
      "            self.items.append(x)\n");
  unsaid.replace(unsaid.find("Store(40)"), 9, "Store(int(input()))");
  CHECK_FALSE(asked(unsaid, about("store.items")).proof);
  CHECK_FALSE(of_store("        if len(self.items) < self.capacity:\n"
                       "            self.items.append(x)\n"
                       "            self.capacity += 1\n")
                  .proof);
}

TEST_CASE("GIVEN another place that makes it longer THEN one bound is not enough") {
  CHECK_FALSE(of_store("        if len(self.items) < self.capacity:\n"
                       "            self.items.append(x)\n"
                       "        else:\n"
                       "            self.items.insert(0, x)\n")
                  .proof);
}

TEST_CASE("GIVEN a number that counts with it THEN a limit of the number is one of the list") {
  is_bounded(of_store("        if self.count < self.capacity:\n"
                      "            self.count += 1\n"
                      "            self.items.append(x)\n"),
             bound_kind::length, 40);
  CHECK_FALSE(of_store("        if self.count < self.capacity:\n"
                       "            self.items.append(x)\n"
                       "        self.count = self.count % 7\n")
                  .proof);
}

TEST_CASE("GIVEN what is above a limit is taken out THEN that is the bound") {
  is_bounded(of_store("        self.items.append(x)\n"
                      "        if len(self.items) > self.capacity:\n"
                      "            self.items.pop(0)\n"),
             bound_kind::length, 40);
  is_bounded(of_store("        while len(self.items) >= 40:\n"
                      "            del self.items[0]\n"
                      "        self.items.append(x)\n"),
             bound_kind::length, 40);
  is_bounded(of_store("        self.items.extend(x)\n"
                      "        self.items = self.items[-40:]\n"),
             bound_kind::length, 40);
  is_bounded(of_store("        self.items.extend(x)\n"
                      "        del self.items[:-40]\n"),
             bound_kind::length, 40);
  // In a function that is called beside it.
  is_bounded(of_store("        self.items.append(x)\n"
                      "        self.trim()\n",
                      "capacity=40", "list",
                      "    def trim(self):\n"
                      "        while len(self.items) > self.capacity:\n"
                      "            self.items.pop()\n"),
             bound_kind::length, 40);
}

TEST_CASE("GIVEN what only looks like taking out THEN nothing is proved") {
  // A slice of it that somebody else gets.
  const auto read = of_store(
      "        self.items.append(x)\n"
      "        if len(self.items) >= 100:\n"
      "            items = self.items[-100:]\n"
      "            show(items)\n");
  CHECK_FALSE(read.proof);
  // One out for many in.
  CHECK_FALSE(of_store("        self.items.extend(x)\n"
                       "        if len(self.items) > self.capacity:\n"
                       "            self.items.pop(0)\n")
                  .proof);
  // Under a further condition.
  CHECK_FALSE(of_store("        self.items.append(x)\n"
                       "        if x.old and len(self.items) > self.capacity:\n"
                       "            self.items.pop(0)\n")
                  .proof);
  // A way out before it.
  CHECK_FALSE(of_store("        self.items.append(x)\n"
                       "        if x.good:\n"
                       "            return\n"
                       "        if len(self.items) > self.capacity:\n"
                       "            self.items.pop(0)\n")
                  .proof);
  // A key that may not be there.
  CHECK_FALSE(of_store("        self.items[x] = x\n"
                       "        if len(self.items) > self.capacity:\n"
                       "            self.items.pop(x.old, None)\n",
                       "capacity=40", "dict")
                  .proof);
}

TEST_CASE("GIVEN keys of which there are so many THEN that is the bound") {
  is_bounded(
      of_store("        self.items[self.count % self.capacity] = x\n", "capacity=40", "dict"),
      bound_kind::keys, 40);
  is_bounded(of_store("        self.items[x > 3, x > 4, x > 5] = x\n", "", "dict"),
             bound_kind::keys, 8);
  // More than there can be are there already: the line is about something else.
  CHECK_FALSE(of_store("        self.items[x > 3] = x\n", "", "dict").proof);
  is_bounded(asked("import random\n"
                   "NAMES = ['a', 'b', 'c']\n"
                   "def main():\n"
                   "    kept = {}\n"
                   "    while True:\n"
                   "        kept[random.choice(NAMES), random.randrange(4)] = work()\n",
                   about("kept", "dict")),
             bound_kind::keys, 12);
  // A class of its own may be anything, whatever it is called.
  CHECK_FALSE(of_store("        self.items[self.count % self.capacity] = x\n", "capacity=40",
                       "PredictionTable")
                  .proof);
  // A list that was made at its length has so many places.
  is_bounded(of_store("        self.items[self.count % self.capacity] = x\n"), bound_kind::keys, 5);
}

TEST_CASE("GIVEN a new key in each round THEN nothing bounds it; an unknown one is in doubt") {
  const auto by_step = asked(
      "def main():\n"
      "    kept = {}\n"
      "    for step in range(1000):\n"
      "        kept[f'at {step}'] = work()\n",
      about("kept", "dict"));
  CHECK_FALSE(by_step.proof);
  CHECK_FALSE(by_step.why);
  const auto unknown = of_store("        self.items[x] = x\n", "", "dict");
  CHECK_FALSE(unknown.proof);
  REQUIRE(unknown.why);
  CHECK(unknown.why->kind == doubt_kind::keys);
}

TEST_CASE("GIVEN it is emptied after so many rounds THEN that is the bound") {
  const std::string loop =
      "def main():\n"
      "    outputs = []\n"
      "    for step in range(1000):\n"
      "        outputs.append(work())\n";
  is_bounded(asked(loop + "        if (step + 1) % 64 == 0:\n"
                          "            outputs.clear()\n",
                   about("outputs")),
             bound_kind::emptied, 64);
  is_bounded(asked("def main():\n"
                   "    batches = [load(i) for i in range(50)]\n"
                   "    for epoch in range(10):\n"
                   "        outputs = []\n"
                   "        for batch in batches:\n"
                   "            outputs.append(work(batch))\n",
                   about("outputs")),
             bound_kind::emptied, 50);
  // The rounds are not known.
  const auto loader = asked(
      "def main(loader):\n"
      "    for epoch in range(10):\n"
      "        outputs = []\n"
      "        for batch in loader:\n"
      "            outputs.append(work(batch))\n",
      about("outputs"));
  CHECK_FALSE(loader.proof);
  CHECK(loader.why);
  // It should have been empty long ago.
  auto late = about("outputs");
  late.steps = 500;
  CHECK_FALSE(asked(loop + "        if (step + 1) % 64 == 0:\n"
                           "            outputs.clear()\n",
                    late)
                  .proof);
}

TEST_CASE("GIVEN the run's own loop THEN that it ends some day is no bound") {
  const auto found = asked(
      "def main():\n"
      "    losses = []\n"
      "    for step in range(200):\n"
      "        losses.append(work())\n"
      "    losses.clear()\n",
      [] {
        auto what = about("losses");
        what.running = {4};
        return what;
      }());
  CHECK_FALSE(found.proof);
  CHECK_FALSE(found.why);
}

TEST_CASE("GIVEN a tensor that is joined to itself THEN a slice of it is the bound") {
  const auto tensor = [](const std::string& line) {
    return asked(
        "import torch\n"
        "def main(window=48):\n"
        "    bank = torch.zeros(0, 4)\n"
        "    while True:\n"
        "        keys = work()\n"
        "        " +
            line + "\n",
        [] {
          auto what = about("bank", "");
          what.length = 0;
          what.numbers = "window=48";
          return what;
        }());
  };
  is_bounded(tensor("bank = torch.cat([bank, keys])[-window:]"), bound_kind::length, 48);
  is_bounded(tensor("bank = torch.cat([bank[-window:], keys])"), bound_kind::length, 48);
  const auto open = tensor("bank = torch.cat([bank, keys])");
  CHECK_FALSE(open.proof);
  CHECK_FALSE(open.why);
  CHECK(open.made_of_itself);
  const auto anew = tensor("bank = keys * 2");
  CHECK(anew.reallocated);
  const auto others = tensor("bank = model(bank, keys)");
  CHECK_FALSE(others.proof);
  REQUIRE(others.why);
  CHECK(others.why->kind == doubt_kind::elsewhere);
}

TEST_CASE("GIVEN it is handed to code that is not seen THEN nothing is proved") {
  const auto found = of_store(
      "        if len(self.items) < self.capacity:\n"
      "            self.items.append(x)\n"
      "        somebody.takes(self.items)\n");
  CHECK_FALSE(found.proof);
  REQUIRE(found.why);
  CHECK(found.why->kind == doubt_kind::elsewhere);
}

TEST_CASE("GIVEN an object under other names THEN all of them count") {
  CHECK_FALSE(of_store("        kept = self.items\n"
                       "        if len(self.items) < self.capacity:\n"
                       "            self.items.append(x)\n"
                       "        kept.append(x)\n")
                  .proof);
  is_bounded(of_store("        kept = self.items\n"
                      "        if len(kept) < self.capacity:\n"
                      "            kept.append(x)\n"),
             bound_kind::length, 40);
}

TEST_CASE("GIVEN an attribute of another class with the same name THEN it is another one") {
  const auto found = of_store("        self.items.append(x)\n", "capacity=40", "list",
                              "    def other(self):\n"
                              "        pass\n"
                              "class Basket:\n"
                              "    def trim(self):\n"
                              "        self.items.clear()\n"
                              "class Store(Base):\n");
  CHECK_FALSE(found.proof);
}

TEST_CASE("GIVEN a program that does not parse THEN what does is read") {
  CHECK_FALSE(asked("def main(:\n    kept = [\n", about("kept")).proof);
  CHECK_FALSE(asked("", about("kept")).is_seen);
  CHECK_FALSE(asked(std::string(100'000, '('), about("kept")).is_seen);
}

TEST_CASE(
    "GIVEN names that are kept for tensors WHEN asked THEN a tensor is no key that comes again") {
  const auto named = [](const std::string& value) {
    return store("        if x not in self.items:\n            self.items[x] = " + value + "\n");
  };
  const auto asked_about = about("self.items", "dict");
  for (const char* const value : {"f\"Tensor{self.count}\"", "'a tensor'", "0", "None", "True"}) {
    const auto found = asked(named(value), asked_about);
    CHECK_FALSE(found.proof);
    CHECK_FALSE(found.why);
  }
  const auto through_a_name =
      store("        name = f\"Tensor{self.count}\"\n        self.items[x] = name\n");
  CHECK_FALSE(asked(through_a_name, asked_about).why);
  // What is kept may be the value, under a key that was there before.
  for (const char* const value : {"x", "make(x)", "(x, 0)"}) {
    const auto found = asked(named(value), asked_about);
    REQUIRE(found.why);
    CHECK(found.why->kind == doubt_kind::keys);
  }
}

TEST_CASE("GIVEN parameters that only go by their name, or by their place THEN they are read") {
  for (const std::string parameters :
       {"x, *, capacity=40", "x, /, capacity=40", "*, x, capacity=40"}) {
    const auto found = asked(
        "def main():\n"
        "    kept = []\n"
        "    def put(" +
            parameters +
            "):\n"
            "        if len(kept) < 40:\n"
            "            kept.append(x)\n"
            "    for step in range(1000):\n"
            "        put(x=step)\n",
        about("kept"));
    is_bounded(found, bound_kind::length, 40);
  }
}

TEST_CASE("GIVEN a loop that takes out while a count is above a limit THEN that bounds it") {
  const std::string counted =
      "        self.items.append(x)\n"
      "        self.count += x.size\n"
      "        while self.count > self.capacity:\n"
      "            old = self.items.pop(0)\n"
      "            self.count -= old.size\n";
  is_bounded(of_store(counted, "capacity=40,count=9"), bound_kind::counted, 40);
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = counted;
    text.replace(text.find(from), from.size(), to);
    return of_store(text, "capacity=40,count=9");
  };
  CHECK(with("x.size", "len(x)").why);  // counted by another measure than it is counted down
  CHECK_FALSE(with("x.size", "1").proof);
  CHECK_FALSE(with("self.count -= old.size\n",
                   "self.count -= old.size\n            self.count -= old.size\n")
                  .proof);
  CHECK_FALSE(of_store(counted, "capacity=40").proof);           // how far it is nobody knows
  CHECK_FALSE(of_store(counted, "capacity=40,count=41").proof);  // it is above
  CHECK_FALSE(of_store(counted, "capacity=40,count=0").proof);   // it does not count
  CHECK_FALSE(of_store(counted, "capacity=40,count=9", "list",
                       "    def start(self):\n        self.count = 0\n")
                  .proof);
  CHECK_FALSE(of_store("        self.items.append(x)\n"
                       "        while self.count > self.capacity:\n"
                       "            self.count -= self.items.pop(0).size\n",
                       "capacity=40,count=9")
                  .proof);
  CHECK_FALSE(of_store("        self.items.append(x)\n"
                       "        self.count += x.size\n"
                       "        if self.count > self.capacity:\n"
                       "            self.count -= self.items.pop(0).size\n",
                       "capacity=40,count=9")
                  .proof);
}

TEST_CASE("GIVEN a loop through a list that is made for it THEN what follows it takes out enough") {
  const auto after = [](const std::string& through, const std::string& trim) {
    return of_store("        rows = [row for row in x]\n        for row in " + through +
                    ":\n            self.items.append(row)\n" + trim);
  };
  const std::string trim =
      "        while len(self.items) > self.capacity:\n            self.items.pop(0)\n";
  is_bounded(after("rows", trim), bound_kind::length, 40);
  is_bounded(after("zip(self.make(rows), rows)", trim), bound_kind::length, 40);
  is_bounded(after("rows", "        self.items = self.items[-40:]\n"), bound_kind::length, 40);
  CHECK_FALSE(after("x", trim).proof);  // a loader, perhaps, and all of the run
  CHECK_FALSE(after("enumerate(self.make())", trim).proof);
  CHECK_FALSE(after("rows",
                    "        if len(self.items) > self.capacity:\n"
                    "            self.items.pop(0)\n")
                  .proof);
  CHECK_FALSE(after("range(9)", trim).proof);
  CHECK_FALSE(of_store("        rows = [row for row in x]\n        for row in rows:\n"
                       "            self.items.append(row)\n            self.check(row)\n" +
                       trim)
                  .proof);  // an error that somebody catches passes over it
  // The loop is run once.
  auto what = about("items");
  what.owner = "global of train";
  what.holder.clear();
  CHECK_FALSE(asked("rows = [0, 1]\nitems = []\nfor row in rows:\n    items.append(row)\n"
                    "while len(items) > 40:\n    items.pop(0)\n",
                    what)
                  .proof);
}

TEST_CASE("GIVEN few keys whose values are joined to what they were THEN nothing is proved") {
  CHECK_FALSE(of_store("        self.items[step % 4] = torch.cat([self.items[step % 4], x])\n",
                       "capacity=40", "dict")
                  .proof);
  is_bounded(
      of_store("        self.items[self.count % 4] = torch.cat([x, x])\n", "capacity=40", "dict"),
      bound_kind::keys, 4);
}
