# SPDX-License-Identifier: Apache-2.0
"""Objects in every place that a census should name, and what it says of them, as JSON.

`expected` was written from reading the code, before any census was looked at:
    name: (path, container, length, owner, holder, flags)
"""
import asyncio
import collections
import contextvars
import functools
import gc
import json
import queue
import sys
import threading
import types

sys.path.insert(0, __file__.rpartition("/")[0])
from probe import Held, Probe  # noqa: E402

TRACEBACK, HOOK, BOUNDED, UNREACHABLE, TRAINED, STATEMENT, STATE = 4, 8, 16, 256, 512, 1024, 2048
made = {}  # name: address
expected = {}


def held(name, path, container="", length="", owner="global of __main__", holder="", flags=0):
    """A new object that a census should find there."""
    thing = Held()
    made[name] = id(thing)
    expected[name] = [path, container, length, owner, holder, flags]
    return thing


# How long the containers on the path are, and what the keys are.
expected_levels = {"in a class": "2i/3", "by name": "2k", "by text": "1n", "by size": "1i", "in a window": "1/1<4",
                   "after known keys": "13n"}
# Of each attribute on the path, the class of the object that has it.
expected_classes = {"list": "Trainer", "in a module": "Trainer,Module,Module", "deep chain": "Link,Link", "global": "",
                    "class attribute": "Trainer", "partial": "partial", "parameter": "Trainer", "closure in a hook": ""}
TENANTS = ["acme", "birch"]
by_class = {7: [held("in a class", "by_class[…]", "list", "3"), 1, 2], 9: [3]}
adapters = {TENANTS[0]: held("by name", "adapters['acme']", "dict", "2"), TENANTS[1]: None}
answers = {"".join(["what", " is ", str(len(TENANTS))]): held("by text", "answers[…]", "dict", "1")}
masks = {(24, len(TENANTS)): held("by size", "masks[…]", "dict", "1")}
memo = {**dict.fromkeys(TENANTS), "".join(["la", "st"]): held("after known keys", "memo['last']", "dict", "13"),
        **{"".join(["no", str(number)]): None for number in range(10)}}
firsts = [held("in two", "firsts[…]", "list", "1")]
seconds = {"halves": firsts[:]}
# The dictionary keeps the tensors that are its keys, not what is made from it.
names = {held("as a key", "names[…]", "dict", "1"): "rows"}
listed = list(names)
windows = [collections.deque([held("in a window", "windows[…]", "deque(maxlen=4)", "1", flags=BOUNDED)], maxlen=4)]


class Module:
    def __init__(self):
        self._modules = {}
        self._parameters = {}
        self._forward_hooks = collections.OrderedDict()


class Trainer:
    shared = []

    def __init__(self):
        self.capacity, self.small, self.large, self.is_full, self.rate = 40, 1, 1 << 40, True, 0.5
        self.outputs = [held("list", "trainer.outputs[…]", "list", "3", holder="Trainer"), 1, 2]
        self.state = {"last": held("key", "trainer.state['last']", "dict", "2", holder="Trainer"),
                      "step7": held("digits", "trainer.state[…]", "dict", "2", holder="Trainer")}
        self.hidden = held("attribute", "trainer.hidden", holder="Trainer")
        self.model = Module()


class Slots:
    __slots__ = ("first", "second")

    def __init__(self):
        self.first = 1
        self.second = held("slot", "slots.second", holder="Slots")


class Link:
    def __init__(self, after, thing=None):
        self.after = after
        self.thing = thing

    def close(self):
        pass


class Wrapper:
    """Keeps a method of what it wraps before what it wraps, as peft does."""

    def __init__(self):
        wrapped = Link(None, held("beside its method", "wrapper.inside[…].thing", "tuple", "1", holder="Wrapper"))
        self.prepare = wrapped.close
        self.inside = (wrapped,)
        self.only = Link(None, held("by a method alone", "wrapper.only.__self__.thing", holder="Link")).close


class Optimizer:
    pass


class LateDict:
    """Its __dict__ has been asked for: from 3.11 on its attributes are kept in another place."""

    def __init__(self):
        self.thing = held("asked for its dict", "late.thing", holder="LateDict")
        vars(self)


class ManyAttributes:
    def __init__(self):
        for number in range(100):
            setattr(self, "attribute_%d" % number, number)
        self.last = held("one of many attributes", "crowd.last", holder="ManyAttributes")


Pair = collections.namedtuple("Pair", "left right")
wrapper = Wrapper()
trainer = Trainer()
slots = Slots()
late = LateDict()
crowd = ManyAttributes()
plain = held("global", "plain")
pairs = [Pair(1, held("namedtuple", "pairs[…]", "list", "3")), 0, 0]
many = {("batch", i): held("tuple key %d" % i, "many[…]", "dict", "5") for i in range(5)}
recent = collections.deque([held("deque", "recent[…]", "deque(maxlen=4)", "1", flags=BOUNDED)], 4)
waiting = collections.deque([held("unbounded deque", "waiting[…]", "deque", "1")])
grouped = collections.defaultdict(list, a=[held("defaultdict", "grouped['a'][…]", "list", "2"), 2])
seen = {held("set", "seen[…]", "set", "1")}
bound = functools.partial(print, held("partial", "bound.args[…]", "tuple", "1", holder="partial"))
queued = queue.Queue()
queued.put(held("queue", "queued.queue[…]", "deque", "1", holder="Queue"))
iterator = iter([1, held("iterator", "iterator[…]", "list", "2")])
Trainer.shared.append(held("class attribute", "Trainer.shared[…]", "list", "1", holder="Trainer"))
late_values = types.SimpleNamespace(x=held("namespace", "late_values.x", holder="SimpleNamespace"))
umlaut = {"größe": held("not ASCII", "umlaut['größe']", "dict", "1")}

chain = None
for number in range(1000):
    chain = Link(chain, held("deep chain", "chain.after.thing", holder="Link") if number == 0 else None)

layer = trainer.model._modules["encoder"] = Module()
layer._parameters["weight"] = held("parameter", "trainer.model", holder="Trainer", flags=TRAINED)
layer.cache = [held("in a module", "trainer.model.encoder.cache[…]", "list", "1", holder="Module")]
stack = trainer.model._modules["0"] = Module()
stack.last = held("in a numbered module", "trainer.model[…].last", holder="Module")


@functools.lru_cache(maxsize=None)
def unbounded(number):
    return held("lru_cache", "unbounded[…]", "lru_cache", "1")


@functools.lru_cache(maxsize=32)
def bounded(number):
    return held("bounded lru_cache", "bounded[…]", "lru_cache(maxsize=32)", "1", flags=BOUNDED)


unbounded(1), bounded(1)


def make_hook():
    features = [held("closure in a hook", "features[…]", "list", "2", "closure of hook", flags=HOOK),
                1]

    def hook(*anything):
        return features

    return hook


layer._forward_hooks["first hook"] = make_hook()
del layer, stack


def with_default(number, kept=[held("default", "kept[…]", "list", "1", "default of with_default")],
                 *, named={"a": held("keyword", "named['a']", "dict", "1",
                                     "default of with_default")}):
    return kept, named


def attribute_of_function():
    pass


attribute_of_function.cache = [held("function's attribute", "attribute_of_function.cache[…]", "list",
                                    "1", holder="function")]


def suspended():
    state = [held("generator", "state[…]", "list", "1", "local of suspended")]
    yield state


generators = [suspended()]
next(generators[0])


async def coroutine():
    mine = held("coroutine", "mine", "list", "1", "local of coroutine")
    await asyncio.sleep(0)
    return mine


coroutines = [coroutine()]
coroutines[0].send(None)

variable = contextvars.ContextVar("variable")
variable.set(held("context", "ContextVar", owner="context of a thread"))
errors = []


def fails():
    inner = held("stored traceback", "errors[…].__traceback__", "list", "1", flags=TRACEBACK)
    raise ValueError(inner and "x")


try:
    fails()
except ValueError as error:
    errors.append(error)


def fails_now():
    lost = held("handled now", "lost", owner="traceback of KeyError", flags=TRACEBACK)
    raise KeyError(lost and "x")


def in_thread(ready, stop):
    mine = held("thread", "mine", owner="local of in_thread")
    ready.set()
    stop.wait()
    return mine


def make_cycle():
    one, other = Link(None), Link(None)
    one.after, other.after = other, one
    one.thing = held("cycle", "Link.thing", owner="nothing: a cycle or C++", holder="Link",
                     flags=UNREACHABLE)


def looped():
    kept = [held("generator of a loop", "kept[…]", "list", "1", "local of looped")]
    yield
    return kept


def inner(probe):
    local = held("local", "local", owner="local of inner")
    budget, debt, enormous = 320, -320, 1 << 70  # noqa: F841
    copies = [held("local list", "copies[…]", "list", "1", "local of inner")]
    cell = held("cell", "cell", owner="local of inner")
    optimizer = Optimizer()
    # Found in the model first, though the optimizer is nearer.
    weights = list(trainer.model._modules["encoder"]._parameters.values())
    optimizer.param_groups = [{"lr": 0.1, "params": [*weights]}]
    optimizer.state = {weights.pop(): {
        "exp_avg": held("optimizer", "optimizer.state[…]['exp_avg']", "dict", "1", "local of inner",
                        "Optimizer", flags=STATE)}}
    also = trainer.hidden

    def uses_cell():
        return cell

    try:
        fails_now()
    except KeyError:
        probe.take()
    names = {"list": probe.name_of(trainer.outputs), "key": probe.name_of(trainer.state["last"]),
             "module": probe.name_of(trainer.model), "part": probe.name_of(layer_again()), "local": probe.name_of(copies),
             "cell": probe.name_of(cell), "held": probe.name_of(local), "class": probe.name_of(Trainer.shared),
             "optimizer": probe.name_of(optimizer.state), "function": probe.name_of(unbounded),
             "nobody's": probe.name_of([]), "number": probe.name_of(7), "python module": probe.name_of(sys),
             "globals": probe.name_of(globals()), "modules": probe.name_of(sys.modules)}
    return local, copies, uses_cell, optimizer, also, names


def layer_again():
    return trainer.model._modules["encoder"]


def in_the_making(probe):
    """First an object for the list of a comprehension; in its next turn the census, which finds that list."""
    if "in the making" in made:
        return inner(probe)[-1]
    return held("in the making", "list[…]", "list", "1", "a statement that runs, or C++", flags=STATEMENT)


def main():
    probe = Probe(sys.argv[1])
    ready, stop = threading.Event(), threading.Event()
    thread = threading.Thread(target=in_thread, args=(ready, stop))
    thread.start()
    ready.wait()
    gc.disable()  # the cycle must live until the census
    make_cycle()
    for _ in looped():  # named by nobody: the interpreter has it
        names = [in_the_making(probe) for _ in range(2)][1]
    stop.set()
    thread.join()
    rows = probe.rows()
    found = {}
    for name, address in made.items():
        row = rows.get(address)
        found[name] = row and [row[0], row[1], row[2], row[3], row[6], row[-1]]
    json.dump({"found": found, "expected": expected, "rows": len(rows),
               "numbers": {name: rows[made[name]][7].split(",") for name in ("list", "local list")},
               "levels": {name: rows[made[name]][8] for name in expected_levels},
               "expected_levels": expected_levels,
               "classes": {name: rows[made[name]][9] for name in expected_classes},
               "expected_classes": expected_classes, "names": names,
               "also": {name: rows[made[name]][10:-1] for name in ("in two", "list", "parameter")},
               "places": {name: rows[made[name]][4:6] for name in ("local", "global", "default")}},
              sys.stdout)


main()
