// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/judge/program/hostile.h"

#include "tests/unit/catch.h"

using namespace hostile;

TEST_CASE(
    "GIVEN a parameter that is given another value where it is none THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("import torch.nn as nn\n"
                    "class Store(nn.Module):\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def forward(self, x, limit=None):\n"
                    "        if limit is None:\n"
                    "            limit = 40\n"
                    "        if len(self.items) < limit:\n"
                    "            self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store(work(step), step + 1)\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN a parameter with the name of a number that was seen THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    limit = 40\n"
                    "    items = []\n"
                    "    def put(x, limit):\n"
                    "        if len(items) < limit:\n"
                    "            items.append(x)\n"
                    "    for step in range(1000000):\n"
                    "        put(work(step), limit + step)\n",
                    about("items", "list", "limit=40"))
                  .proof);
}

TEST_CASE("GIVEN a limit that setattr moves THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        else:\n"
                    "            setattr(self, 'capacity', self.capacity * 2)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a limit that forward moves THEN nothing is proved") {
  CHECK_FALSE(asked("import torch.nn as nn\n"
                    "class Store(nn.Module):\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def forward(self, x):\n"
                    "        self.capacity = len(self.items) + 1\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        return x\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a limit that a walrus moves THEN nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    limit = 40\n"
                    "    items = []\n"
                    "    for step in range(1000000):\n"
                    "        print(limit := limit + 1)\n"
                    "        if len(items) < limit:\n"
                    "            items.append(work(step))\n",
                    about("items", "list", "limit=40"))
                  .proof);
}

TEST_CASE("GIVEN a count that a way out leaves as it is THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if self.count < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "            if x.cached:\n"
                    "                return\n"
                    "            self.count += 1\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a count that a callback of somebody sets to zero THEN nothing is proved") {
  CHECK_FALSE(asked("import lightning as L\n"
                    "class Store(L.Callback):\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if self.count < self.capacity:\n"
                    "            self.count += 1\n"
                    "            self.items.append(x)\n"
                    "    def on_train_epoch_end(self, trainer):\n"
                    "        self.count = 0\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a count that begins anew in each call THEN nothing is proved") {
  CHECK_FALSE(asked("import torch.nn as nn\n"
                    "class Store(nn.Module):\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def forward(self, x):\n"
                    "        count = 0\n"
                    "        for layer in self.layers:\n"
                    "            x = layer(x)\n"
                    "            if count < 12:\n"
                    "                count += 1\n"
                    "                self.items.append(x)\n"
                    "        return x\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN a count that is set to zero along with something else THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if self.count < self.capacity:\n"
                    "            self.count += 1\n"
                    "            self.items.append(x)\n"
                    "        if x.last:\n"
                    "            (self.count, self.seen) = (0, 0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN a step of an inner loop that ends before the number that empties it THEN "
    "nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    outputs = []\n"
                    "    for epoch in range(100000):\n"
                    "        for step in range(50):\n"
                    "            outputs.append(work(step))\n"
                    "            if (step + 1) % 64 == 0:\n"
                    "                outputs.clear()\n",
                    about("outputs"))
                  .proof);
}

TEST_CASE("GIVEN a step that goes by two and never has the rest THEN nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    outputs = []\n"
                    "    for step in range(0, 1000000, 2):\n"
                    "        outputs.append(work(step))\n"
                    "        if step % 64 == 1:\n"
                    "            outputs.clear()\n",
                    about("outputs"))
                  .proof);
}

TEST_CASE("GIVEN a way on before it is emptied THEN nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    outputs = []\n"
                    "    for step in range(1000000):\n"
                    "        outputs.append(work(step))\n"
                    "        if not is_main_process():\n"
                    "            continue\n"
                    "        if (step + 1) % 64 == 0:\n"
                    "            outputs.clear()\n",
                    about("outputs"))
                  .proof);
}

TEST_CASE("GIVEN a way out of the function that empties it THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "    def flush(self):\n"
                    "        if not self.writer:\n"
                    "            return\n"
                    "        self.items.clear()\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n"
                    "        if step % 64 == 0:\n"
                    "            store.flush()\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN an outer round that goes on before it empties it THEN nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    batches = [load(i) for i in range(50)]\n"
                    "    outputs = []\n"
                    "    for epoch in range(100000):\n"
                    "        for batch in batches:\n"
                    "            outputs.append(work(batch))\n"
                    "        if not validates(epoch):\n"
                    "            continue\n"
                    "        outputs.clear()\n",
                    about("outputs"))
                  .proof);
}

TEST_CASE("GIVEN a number of mistakes in place of that of steps THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        if not x.finite:\n"
                    "            self.count += 1\n"
                    "        if (self.count + 1) % 64 == 0:\n"
                    "            self.items.clear()\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a length that two at once jump over THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x.state)\n"
                    "        self.items.append(x.action)\n"
                    "        if len(self.items) == 41:\n"
                    "            self.items.clear()\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a list of names that are new in each step THEN nothing is proved") {
  auto what = about("kept", "dict");
  what.length = 2;
  CHECK_FALSE(asked("def main():\n"
                    "    kept = {}\n"
                    "    for step in range(1000000):\n"
                    "        for name in (f'loss/{step}', f'accuracy/{step}'):\n"
                    "            kept[name] = work(step)\n",
                    what)
                  .proof);
}

TEST_CASE("GIVEN a key that is a parameter and none only at times THEN nothing is proved") {
  auto what = about("store.items", "dict", "capacity=40");
  what.length = 1;
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x, key=None):\n"
                    "        if key is None:\n"
                    "            key = 'default'\n"
                    "        self.items[key] = x\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step), step)\n",
                    what)
                  .proof);
}

TEST_CASE("GIVEN the rest of a number that is no integer THEN nothing is proved") {
  CHECK_FALSE(asked("import time\n"
                    "def main():\n"
                    "    kept = {}\n"
                    "    while True:\n"
                    "        kept[time.time() % 60] = work()\n",
                    about("kept", "dict"))
                  .proof);
}

TEST_CASE(
    "GIVEN a tensor as the key, which is equal to no other one THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("import torch\n"
                    "def main():\n"
                    "    kept = {}\n"
                    "    while True:\n"
                    "        kept[torch.randint(0, 10, (1,))] = work()\n",
                    about("kept", "dict"))
                  .proof);
}

TEST_CASE("GIVEN a loop's number that is made another one THEN nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    kept = {}\n"
                    "    for epoch in range(100000):\n"
                    "        for i in range(10):\n"
                    "            i += epoch * 10\n"
                    "            kept[i] = work(i)\n",
                    about("kept", "dict"))
                  .proof);
}

TEST_CASE("GIVEN a class of its own that is a dictionary THEN nothing is proved") {
  CHECK_FALSE(asked("class Memo(dict):\n"
                    "    pass\n"
                    "class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = Memo()\n"
                    "    def put(self, x):\n"
                    "        self.items[x.step] = x\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "Memo", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN names to which a function adds one THEN nothing is proved") {
  auto what = about("kept", "dict");
  what.length = 2;
  CHECK_FALSE(asked("import random\n"
                    "NAMES = ['a', 'b', 'c']\n"
                    "def register(names, name):\n"
                    "    names.append(name)\n"
                    "def main():\n"
                    "    kept = {}\n"
                    "    for step in range(1000000):\n"
                    "        register(NAMES, f'task {step}')\n"
                    "        kept[random.choice(NAMES)] = work()\n",
                    what)
                  .proof);
}

TEST_CASE("GIVEN places of a table that get other values THEN nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    kept = {}\n"
                    "    slots = [0, 0, 0, 0]\n"
                    "    for step in range(1000000):\n"
                    "        slots[step % 4] = step\n"
                    "        kept[slots[step % 4]] = work()\n",
                    about("kept", "dict"))
                  .proof);
}

TEST_CASE(
    "GIVEN a chain of comparisons whose negation says nothing THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if 10 < len(self.items) < self.capacity:\n"
                    "            return\n"
                    "        self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN an append in `finally` THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        try:\n"
                    "            if len(self.items) >= self.capacity:\n"
                    "                return\n"
                    "        finally:\n"
                    "            self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a loop within the condition THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            while x.more():\n"
                    "                self.items.append(x.next())\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}
