# SPDX-License-Identifier: Apache-2.0
"""The running modules, against a list that the modules keep themselves: modules.py LIBRARY.

MEMTRACE_TEST_SELF is how the watched function holds its self: a plain local, or in a cell because
an inner function uses it. Prints JSON.
"""
import json
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probe import Probe  # noqa: E402

running = threading.local()


class Base:
    def enter(self, *arguments):
        running.stack = getattr(running, "stack", []) + [self]
        try:
            return self.forward(*arguments)
        finally:
            running.stack = running.stack[:-1]


class Local(Base):
    def __call__(self, *arguments):
        return self.enter(*arguments)


class Cell(Base):
    def __call__(self, first=None, *arguments):
        unused = [first for first in ()]  # noqa: F841

        def inner():
            return self.enter(*(() if first is None else (first,) + arguments))

        return inner()


CLASS = Local if os.environ.get("MEMTRACE_TEST_SELF") == "local" else Cell


def watch(probe, cls):
    code = cls.__call__.__code__
    is_cell = "self" in code.co_cellvars
    slot = 0
    if is_cell and sys.version_info < (3, 11):
        slot = code.co_nlocals + code.co_cellvars.index("self")
    probe.holding.probe_watch_module_call(id(code), slot, is_cell)


class Comparison:
    def __init__(self, probe):
        self.probe = probe
        self.count = 0
        self.wrong = []

    def __call__(self):
        stack = getattr(running, "stack", [])
        expected = (id(stack[-1]), id(stack[0])) if stack else (0, 0)
        for released in (False, True):
            self.count += 1
            ours = self.probe.modules(released)
            if ours != expected and len(self.wrong) < 5:
                names = [type(module).__name__ for module in stack]
                self.wrong.append({"ours": ours, "expected": expected, "stack": names})
        return True


def module(forward):
    return type(forward.__name__, (CLASS,), {"forward": forward})


def models(compare):
    @module
    def Leaf(self):
        compare()

    @module
    def Layer(self):
        compare()
        self.leaf()
        compare()

    @module
    def Model(self):
        compare()
        for layer in self.layers:
            layer()
        [layer() for layer in self.layers]
        compare()

    @module
    def Recursive(self, depth):
        compare()
        if depth:
            (self if depth % 3 else self.other)(depth - 1)
        compare()

    @module
    def Generating(self):
        def numbers():
            for layer in self.layers:
                compare()
                layer()
                yield compare()
        return list(numbers())

    layers = [Layer() for _ in range(6)]
    for layer in layers:
        layer.leaf = Leaf()
    model, generating = Model(), Generating()
    model.layers = generating.layers = layers
    recursive, other = Recursive(), Recursive()
    recursive.other, other.other = other, recursive
    return model, generating, recursive


def loops_over_layers(compare):
    model, generating, _ = models(compare)
    for _ in range(20):
        compare()
        model()
        generating()
    compare()


def recursion(compare):
    recursive = models(compare)[2]
    for depth in range(20):
        recursive(depth)


def new_modules_at_one_place(compare):
    for _ in range(50):
        models(compare)[2](1)


def exceptions(compare):
    @module
    def Failing(self):
        compare()
        raise KeyError

    failing = Failing()
    for _ in range(10):
        try:
            failing()
        except KeyError:
            compare()


def threads(compare):
    mine = [threading.Thread(target=loops_over_layers, args=(compare,)) for _ in range(3)]
    for thread in mine:
        thread.start()
    for thread in mine:
        thread.join()


def deeper_than_is_kept(compare):
    """The outermost module of a stack whose outer frames are left out is one that is kept."""
    model = models(compare)[0]

    def down(depth):
        return down(depth - 1) if depth else model()

    sys.setrecursionlimit(5000)
    down(1500)


def main():
    probe = Probe(sys.argv[1])
    compare = Comparison(probe)
    watch(probe, CLASS)
    models(compare)[0]()  # unverified
    if probe.wait_until_checked() != "on":
        sys.exit("stacks are off")
    counts = {}
    for scenario in (loops_over_layers, recursion, new_modules_at_one_place, exceptions, threads,
                     deeper_than_is_kept):
        before = compare.count
        scenario(compare)
        counts[scenario.__name__] = compare.count - before
    model = models(compare)[0]

    def not_watched():
        modules = probe.modules()
        if modules != (0, 0):
            compare.wrong.append({"not watched, but": modules})

    class Watcher(CLASS):
        def forward(self):
            compare()
            probe.holding.probe_watch_module_call(0, 0, 0)
            not_watched()
            watch(probe, CLASS)
            compare()  # from the same frames as before

    Watcher()()
    model()
    print(json.dumps({"comparisons": compare.count, "wrong": compare.wrong, "counts": counts}))


main()
