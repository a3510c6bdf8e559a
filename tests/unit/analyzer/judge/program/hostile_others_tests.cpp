// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/judge/program/hostile.h"

#include "tests/unit/catch.h"

using namespace hostile;

TEST_CASE("GIVEN a length that was asked for before the loop THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        n = len(self.items)\n"
                    "        for one in x:\n"
                    "            if n < self.capacity:\n"
                    "                self.items.append(one)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN pop with a default THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items[x.name] = x\n"
                    "        if len(self.items) > self.capacity:\n"
                    "            self.items.pop(x.before, None)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "dict", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN the limit is another list that gets longer THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "        self.seen = []\n"
                    "    def put(self, x):\n"
                    "        self.seen.append(x.name)\n"
                    "        if len(self.items) < len(self.seen):\n"
                    "            self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a key of which one part has no end THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items[x.step, self.count % 4] = x\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "dict", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN its append under another name THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        push = self.items.append\n"
                    "        push(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN getattr with its name THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        getattr(self, 'items').append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a thread that has it THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        threading.Thread(target=work, args=(self.items,)).start()\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a copy that is trimmed THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        kept = list(self.items)\n"
                    "        while len(kept) > self.capacity:\n"
                    "            kept.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN `while` with an `else` that grows it THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        while len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        else:\n"
                    "            self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN one of two classes is trimmed THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "class Basket:\n"
                    "    def __init__(self):\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        if len(self.items) > 40:\n"
                    "            self.items.pop(0)\n"
                    "def main():\n"
                    "    store, basket = Store(), Basket()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n"
                    "        basket.put(step)\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a global limit that a function moves THEN nothing is proved") {
  CHECK_FALSE(asked("LIMIT = 40\n"
                    "def raise_limit():\n"
                    "    global LIMIT\n"
                    "    LIMIT += 1\n"
                    "def main():\n"
                    "    items = []\n"
                    "    for step in range(1000000):\n"
                    "        if len(items) < LIMIT:\n"
                    "            items.append(work(step))\n"
                    "        else:\n"
                    "            raise_limit()\n",
                    about("items"))
                  .proof);
}

TEST_CASE("GIVEN heappushpop beside a push THEN nothing is proved") {
  CHECK_FALSE(asked("import heapq\n"
                    "class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        heapq.heappush(self.items, x)\n"
                    "        if x.good:\n"
                    "            heapq.heappushpop(self.items, x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a tuple of it that a function returns THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "    def both(self):\n"
                    "        return self.items, self.count\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n"
                    "        store.both()[0].append(step)\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a decorator by which what takes out seldom runs THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        self.trim()\n"
                    "    @every(10**9)\n"
                    "    def trim(self):\n"
                    "        while len(self.items) > self.capacity:\n"
                    "            self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN a call that fails before it takes out, which is caught THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        try:\n"
                    "            self.items.append(x)\n"
                    "            y = model(x)\n"
                    "            if len(self.items) > self.capacity:\n"
                    "                self.items.pop(0)\n"
                    "        except RuntimeError:\n"
                    "            pass\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN two calls of what puts in where one is taken out THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n"
                    "        store.put(step)\n"
                    "        if len(store.items) > 40:\n"
                    "            store.items.pop(0)\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN calls in a comprehension where one is taken out THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        [store.put(x) for x in work(step)]\n"
                    "        if len(store.items) > 40:\n"
                    "            store.items.pop(0)\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN calls without end in a comprehension within the condition THEN nothing "
    "is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        if len(store.items) < 40:\n"
                    "            [store.put(x) for x in endless()]\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a generator that is left where it yields THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        yield x\n"
                    "        if len(self.items) > self.capacity:\n"
                    "            self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        next(store.put(work(step)))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN the function that takes out is given another one THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        self.trim()\n"
                    "    def trim(self):\n"
                    "        while len(self.items) > self.capacity:\n"
                    "            self.items.pop(0)\n"
                    "Store.trim = lambda self: None\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a name that has become that of a copy THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        kept = self.items\n"
                    "        kept = list(kept)\n"
                    "        self.items.append(x)\n"
                    "        if len(kept) > self.capacity:\n"
                    "            kept.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a limit that a match takes out of what is put in THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        match x:\n"
                    "            case {\"limit\": limit}:\n"
                    "                if len(self.items) < limit:\n"
                    "                    self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40,limit=40"))
                  .proof);
}

TEST_CASE("GIVEN a lambda that has it as a default THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        self.pool.submit(lambda kept=self.items: kept.append(x))\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a limit that an import of all replaces THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < LIMIT:\n"
                    "            self.items.append(x)\n"
                    "LIMIT = 40\n"
                    "from config import *\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}
