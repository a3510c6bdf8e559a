// SPDX-License-Identifier: Apache-2.0
//
// One small program in many forms: what the prover says of each.
#include <string>

#include "tests/unit/analyzer/judge/program/hostile.h"
#include "tests/unit/catch.h"

using namespace hostile;

namespace {

struct form {
  std::string what;
  std::string methods;                            // of Store, beside its constructor
  std::string call = "store.put(torch.ones(9))";  // in each step
  std::string items = "[]";                       // what the constructor gives self.items
  std::string before = {};                        // the class
};

[[nodiscard]] answer said_of(const form& one) {
  return asked("import random, time, torch, uuid\n" + one.before +
                   "class Store:\n"
                   "    def __init__(self, capacity=40):\n"
                   "        self.capacity = capacity\n"
                   "        self.count = 0\n"
                   "        self.items = " +
                   one.items + "\n" + one.methods +
                   "def main():\n"
                   "    store = Store()\n"
                   "    for step in range(1000000):\n"
                   "        " +
                   one.call + "\nmain()\n",
               about("store.items", one.items == "{}" ? "dict" : "list"));
}

const std::string up_to_capacity =
    "    def put(self, x):\n"
    "        if len(self.items) < self.capacity:\n"
    "            self.items.append(x)\n";

}  // namespace

TEST_CASE("GIVEN a bound that something else goes around THEN nothing is proved") {
  const form forms[] = {
      {"an attribute set by a word that is put together",
       up_to_capacity + "    def grow(self, name):\n"
                        "        setattr(self, name, self.capacity + 1)\n",
       "store.put(torch.ones(9)); store.grow('capa' + 'city')"},
      {"a program in a string", up_to_capacity,
       "store.put(torch.ones(9)); exec('store.items.append(torch.ones(9))')"},
      {"the object's dictionary", up_to_capacity,
       "store.put(torch.ones(9)); store.__dict__['items'].append(torch.ones(9))"},
      {"the list's first name", up_to_capacity, "store.put(1); made.append(torch.ones(9))", "made",
       "made = []\n"},
      {"an attribute that is the same list",
       "        self.other = self.items\n" + up_to_capacity +
           "    def also(self, x):\n"
           "        self.other.append(x)\n",
       "store.put(torch.ones(9)); store.also(torch.ones(9))"},
      {"a method that a decorator replaces",
       "    def put(self, x):\n"
       "        self.items.append(x)\n"
       "    @never\n"
       "    def trim(self):\n"
       "        self.items.clear()\n",
       "store.put(torch.ones(9)); store.trim()", "[]",
       "def never(function):\n    return lambda *given: None\n"},
      {"a key between two whole numbers",
       "    def put(self, x):\n"
       "        self.items[time.time() % 40] = x\n",
       "store.put(torch.ones(9))", "{}"},
      {"a tensor as a key, which is equal to no other",
       "    def put(self, x):\n"
       "        self.count += 1\n"
       "        self.items[torch.tensor(self.count) % 40] = x\n",
       "store.put(torch.ones(9))", "{}"},
      {"a function of the program that has the name of len", up_to_capacity,
       "store.put(torch.ones(9))", "[]", "def len(what):\n    return 0\n"},
  };
  for (const auto& one : forms) {
    INFO(one.what);
    CHECK_FALSE(said_of(one).proof);
  }
}

TEST_CASE("GIVEN a list that an error lets through past its end THEN nothing is proved") {
  CHECK_FALSE(asked("import torch\n"
                    "def main():\n"
                    "    kept = []\n"
                    "    for step in range(100000):\n"
                    "        try:\n"
                    "            kept.append(torch.ones(9))\n"
                    "            check(step)\n"
                    "            if len(kept) == 40:\n"
                    "                kept.clear()\n"
                    "        except ValueError:\n"
                    "            pass\n"
                    "main()\n",
                    about("kept"))
                  .proof);
}

TEST_CASE("GIVEN lists under a few keys WHEN they get longer THEN the keys bound nothing") {
  auto what = about("found");
  what.length = 60;
  CHECK_FALSE(asked("def main():\n"
                    "    found = {}\n"
                    "    for step in range(1000):\n"
                    "        for name in ('first', 'second'):\n"
                    "            found.setdefault(name, []).append(make(step))\n",
                    what)
                  .proof);
}

TEST_CASE("GIVEN keys of which none comes again THEN there is neither proof nor doubt") {
  for (const std::string key : {"uuid.uuid4().hex", "time.time()", "len(self.items)"}) {
    INFO(key);
    const auto said = said_of({"",
                               "    def put(self, x):\n"
                               "        self.items[" +
                                   key + "] = x\n",
                               "store.put(torch.ones(9))", "{}"});
    CHECK_FALSE(said.proof);
    CHECK_FALSE(said.why);
  }
}

TEST_CASE("GIVEN a bound in a form of its own THEN it is proved") {
  struct bounded {
    form one;
    std::uint64_t most;
  };
  const bounded forms[] = {
      {{"the default of the constructor", up_to_capacity}, 40},
      {{"a method that says it is full",
        "    def is_full(self):\n"
        "        return len(self.items) >= self.capacity\n"
        "    def put(self, x):\n"
        "        if not self.is_full():\n"
        "            self.items.append(x)\n"},
       40},
      {{"a property that says it is full",
        "    @property\n"
        "    def full(self):\n"
        "        return len(self.items) >= 40\n"
        "    def put(self, x):\n"
        "        if self.full:\n"
        "            self.items.pop(0)\n"
        "        self.items.append(x)\n"},
       40},
      {{"the last hundred, counted from the end",
        "    def put(self, x):\n"
        "        self.items.append(x)\n"
        "        self.items = self.items[max(0, len(self.items) - 100):]\n"},
       100},
      {{"an attribute of the class",
        "    LIMIT = 40\n"
        "    def put(self, x):\n"
        "        if len(self.items) >= self.LIMIT:\n"
        "            self.items.pop(0)\n"
        "        self.items.append(x)\n"},
       40},
  };
  for (const auto& [one, most] : forms) {
    INFO(one.what);
    const auto said = said_of(one);
    REQUIRE(said.proof);
    CHECK(said.proof->value == most);
  }
}
