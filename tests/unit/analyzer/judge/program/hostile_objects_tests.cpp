// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/judge/program/hostile.h"

#include "tests/unit/catch.h"

using namespace hostile;

TEST_CASE(
    "GIVEN a condition on the length of another object of the same class THEN "
    "nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def show(self):\n"
                    "        print(self.items)\n"
                    "def main():\n"
                    "    first, store = Store(), Store()\n"
                    "    for step in range(1000000):\n"
                    "        if len(first.items) < 40:\n"
                    "            store.items.append(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN another object of the same class is the one that is trimmed THEN nothing "
    "is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        if len(self.peer.items) > self.capacity:\n"
                    "            self.peer.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN the method that trims is called on another object THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        self.backup.trim()\n"
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
    "GIVEN flush() of a file, where the class has a function of that name THEN "
    "nothing is proved") {
  CHECK_FALSE(asked("import sys\n"
                    "class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        sys.stdout.flush()\n"
                    "    def flush(self):\n"
                    "        if len(self.items) > 40:\n"
                    "            self.items.clear()\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN flush() of a writer every 100 steps, where the class has a function of "
    "that name THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "    def flush(self):\n"
                    "        self.items.clear()\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    writer = SummaryWriter()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n"
                    "        if step % 100 == 99:\n"
                    "            writer.flush()\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN a condition on one list of a dictionary where another one grows THEN "
    "nothing is proved") {
  auto what = about("store.groups");
  what.in_elements = true;
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self):\n"
                    "        self.groups = {'train': [], 'valid': []}\n"
                    "    def put(self, x):\n"
                    "        if len(self.groups['valid']) < 40:\n"
                    "            self.groups['train'].append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    what)
                  .proof);
}

TEST_CASE("GIVEN a limit of another object that has the same name THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if len(self.items) < self.parent.capacity:\n"
                    "            self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store(40)\n"
                    "    store.parent = Store(10**9)\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a slice that only a local name gets THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        recent = self.items\n"
                    "        recent = recent[-40:]\n"
                    "        show(recent.copy())\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN a function that cuts its parameter, which is a name of its own THEN "
    "nothing is proved") {
  CHECK_FALSE(asked("def trim(items):\n"
                    "    items = items[-40:]\n"
                    "def main():\n"
                    "    losses = []\n"
                    "    for step in range(1000000):\n"
                    "        losses.append(work(step))\n"
                    "        trim(losses)\n",
                    about("losses"))
                  .proof);
}

TEST_CASE("GIVEN a new list that only a local name gets THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        outputs = self.items\n"
                    "        outputs.append(x)\n"
                    "        self.count += 1\n"
                    "        if self.count % 64 == 0:\n"
                    "            outputs = []\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a tensor of which a local name is cut THEN nothing is proved") {
  CHECK_FALSE(asked("import torch\n"
                    "class Store:\n"
                    "    def __init__(self):\n"
                    "        self.bank = torch.zeros(0, 16)\n"
                    "    def put(self, keys):\n"
                    "        self.bank = torch.cat([self.bank, keys])\n"
                    "        bank = self.bank\n"
                    "        bank = bank[-4096:]\n"
                    "        return bank @ keys.T\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.bank", ""))
                  .proof);
}

TEST_CASE(
    "GIVEN a tensor joined along one axis and cut along another THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("import torch\n"
                    "def main():\n"
                    "    bank = torch.zeros(0, 128)\n"
                    "    while True:\n"
                    "        keys = work()\n"
                    "        bank = torch.cat([bank, keys], dim=0)[:, :64]\n",
                    about("bank", ""))
                  .proof);
}

TEST_CASE(
    "GIVEN the size of another axis is compared with the limit THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("import torch\n"
                    "def main():\n"
                    "    bank = torch.zeros(0, 16)\n"
                    "    while True:\n"
                    "        keys = work()\n"
                    "        bank = torch.cat([bank, keys])\n"
                    "        if bank.shape[1] > 4096:\n"
                    "            bank = bank[-4096:]\n",
                    about("bank", ""))
                  .proof);
}

TEST_CASE(
    "GIVEN the rest of the tensor comes back by a variable that is given it later "
    "THEN nothing is proved") {
  CHECK_FALSE(asked("import torch\n"
                    "def main():\n"
                    "    bank = torch.zeros(0, 16)\n"
                    "    before = torch.zeros(0, 16)\n"
                    "    while True:\n"
                    "        bank = torch.cat([bank[-40:], before])\n"
                    "        before = torch.cat([bank, work()])\n",
                    about("bank", ""))
                  .proof);
}

TEST_CASE("GIVEN a tensor whose stride is one THEN nothing is proved") {
  CHECK_FALSE(asked("import torch\n"
                    "def main():\n"
                    "    bank = torch.zeros(0, 16)\n"
                    "    while True:\n"
                    "        bank = torch.cat([bank, work()])[::1]\n",
                    about("bank", ""))
                  .proof);
}

TEST_CASE(
    "GIVEN a way out within the condition before it takes out THEN nothing is "
    "proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        if len(self.items) > self.capacity:\n"
                    "            if self.items[0].pinned:\n"
                    "                return\n"
                    "            self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a loop that takes out and stops at what is pinned THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        while len(self.items) > self.capacity:\n"
                    "            if self.items[0].pinned:\n"
                    "                break\n"
                    "            self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a way out within the `with` that takes out THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        with self.lock:\n"
                    "            if x.good:\n"
                    "                return\n"
                    "            if len(self.items) > self.capacity:\n"
                    "                self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN an error before it takes out, which is caught THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        try:\n"
                    "            self.items.append(x)\n"
                    "            if not x.finite:\n"
                    "                raise ValueError(x)\n"
                    "            if len(self.items) > self.capacity:\n"
                    "                self.items.pop(0)\n"
                    "        except ValueError:\n"
                    "            pass\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE(
    "GIVEN it takes out only if a further word of the same line says so THEN "
    "nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        self.items.append(x)\n"
                    "        if len(self.items) > self.capacity:\n"
                    "            x.old and self.items.pop(0)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}

TEST_CASE("GIVEN a random number of a range that gets larger THEN nothing is proved") {
  CHECK_FALSE(asked("import random\n"
                    "def main():\n"
                    "    kept = {}\n"
                    "    for step in range(1000000):\n"
                    "        kept[random.randrange(step + 1)] = work()\n",
                    about("kept", "dict"))
                  .proof);
}

TEST_CASE("GIVEN a slice from the front THEN nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    losses = []\n"
                    "    for step in range(1000000):\n"
                    "        losses.append(work(step))\n"
                    "        del losses[-40:]\n",
                    about("losses"))
                  .proof);
}

TEST_CASE("GIVEN slices that leave all THEN nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    losses = []\n"
                    "    for step in range(1000000):\n"
                    "        losses.append(work(step))\n"
                    "        losses = losses[-0:]\n",
                    about("losses"))
                  .proof);
}

TEST_CASE("GIVEN the first is left out, once THEN nothing is proved") {
  CHECK_FALSE(asked("def main():\n"
                    "    losses = []\n"
                    "    for step in range(1000000):\n"
                    "        losses.extend(work(step))\n"
                    "        losses = losses[1:]\n",
                    about("losses"))
                  .proof);
}

TEST_CASE("GIVEN `or` beside the condition THEN nothing is proved") {
  CHECK_FALSE(asked("class Store:\n"
                    "    def __init__(self, capacity=40):\n"
                    "        self.capacity = capacity\n"
                    "        self.count = 0\n"
                    "        self.items = []\n"
                    "    def put(self, x):\n"
                    "        if not self.full or len(self.items) < self.capacity:\n"
                    "            self.items.append(x)\n"
                    "def main():\n"
                    "    store = Store()\n"
                    "    for step in range(1000000):\n"
                    "        store.put(work(step))\n",
                    about("store.items", "list", "capacity=40"))
                  .proof);
}
