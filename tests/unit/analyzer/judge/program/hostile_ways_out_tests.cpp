// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/judge/program/hostile.h"

#include "tests/unit/catch.h"

using namespace hostile;

TEST_CASE(
    "GIVEN it takes out only in one branch of a conditional expression THEN nothing "
    "is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        if len(self.items) > self.capacity:\n"
                    "            self.items.pop(0) if x.old else None\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN what takes out is put into a variable and never called THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        if len(self.items) > self.capacity:\n"
                    "            self.later = lambda: self.items.clear()\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN what takes out is an async function that nobody awaits THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        self.trim()\n"
                    "    async def trim(self):\n"
                    "        while len(self.items) > self.capacity:\n"
                    "            self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN what takes out is a generator that nobody runs THEN nothing is proved") {
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
                    "            yield self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN what it takes out may not be there, which is caught THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        try:\n"
                    "            if len(self.items) > self.capacity:\n"
                    "                self.items.remove(x.previous)\n"
                    "        except ValueError:\n"
                    "            pass\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN two come in where one is taken out THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x.state)\n"
                    "        self.items.append(x.action)\n"
                    "        if len(self.items) > self.capacity:\n"
                    "            self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN many come in by a comprehension where one is taken out THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        [self.items.append(one) for one in x]\n"
                    "        if len(self.items) > self.capacity:\n"
                    "            self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN a hook in the constructor that grows it, as a lambda THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, model):\n"
                    "        self.capacity = 40\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "        model.register_forward_hook(lambda m, i, o: self.items.append(o))\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store(model)\n"
                    "    for step in range(1000000):\n"
                    "        store.put(model(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN the constructor of another class that puts something into it THEN "
    "nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "class Sample:\n"
                    "    def __init__(self, store, x):\n"
                    "        self.x = x\n"
                    "        store.items.append(self)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        Sample(store, work(step))\n"
                    "        store.put(step)\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN a function that returns it, to whose result more is put THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "    def buffer(self):\n"
                    "        return self.items\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n"
                    "        store.buffer().append(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a property that returns it, to which more is put THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "    @property\n"
                    "    def buffer(self):\n"
                    "        return self.items\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n"
                    "        store.buffer.append(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN its append as a callback by keyword THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        self.pool.apply_async(work, (x,), callback=self.items.append)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN functools.partial of a function that puts something into it THEN nothing "
    "is proved") {
  CHECK_FALSE(
      asked("import functools\n"
            "from hooks import keep_output\n"
            "class Store:\n"
            "    def __init__(self, capacity=40):\n"
            "        self.capacity = capacity\n"
            "        self.count = 0\n"
            "        self.items = []\n"
            "    def put(self, x):\n"
            "        if len(self.items) < self.capacity:\n"
            "            self.items.append(x)\n"
            "    def attach(self, model):\n"
            "        model.register_forward_hook(functools.partial(keep_output, self.items))\n"
            "def main():\n"
            "    store = Store()\n"
            "    for step in range(1000000):\n"
            "        store.put(work(step))\n",
            about("store.items", "list", "capacity=40"))
          .proof);
}

TEST_CASE("GIVEN a second name in the same assignment THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "    def attach(self, model):\n"
                    "        self.items = kept = []\n"
                    "        def hook(module, given, output):\n"
                    "            kept.append(output)\n"
                    "        model.register_forward_hook(hook)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a list of a hook that it is given THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "    def attach(self, model):\n"
                    "        outputs = []\n"
                    "        def hook(module, given, output):\n"
                    "            outputs.append(output)\n"
                    "        model.register_forward_hook(hook)\n"
                    "        self.items = outputs\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a list of the module that it is given THEN nothing is proved") {
  CHECK_FALSE(asked("BUFFER = []\n"
                    "class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = BUFFER\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n"
                    "        BUFFER.append(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN `or` by which it gets another name THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        kept = self.items or self.spare\n"
                    "        kept.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a new dictionary with all of the old one THEN nothing is proved") {
  auto what = about("store.items", "dict", "capacity=40");
  what.length = 1;
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items['last'] = x\n"
                    "        self.items = {**self.items, x.name: x}\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    what)
                  .proof);
}

TEST_CASE("GIVEN a dictionary that makes what is asked for THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = defaultdict(list)\n"
                    "    def put(self, x):\n"
                    "        self.items[x.step].append(x)\n"
                    "        self.items[self.count % 40] = []\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "defaultdict", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN its name as a word THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "        self.__dict__['items'].append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN a guard in one caller of forward, which the model's own call has not "
    "THEN nothing is proved") {
  CHECK_FALSE(asked("import torch.nn as nn\n"
                    "class Store(nn.Module):\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def forward(self, x):\n"
                    "        self.items.append(x)\n"
                    "        return x\n"
                    "    def warm_up(self, x):\n"
                    "        if len(self.items) < 40:\n"
                    "            self.forward(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    store.warm_up(work(0))\n"
                    "    for step in range(1000000):\n"
                    "        store(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a guard around what registers a hook THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def attach(self, model):\n"
                    "        model.register_forward_hook(lambda m, i, o: self.items.append(o))\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    if len(store.items) < 40:\n"
                    "        store.attach(model)\n"
                    "    for step in range(1000000):\n"
                    "        model(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}
