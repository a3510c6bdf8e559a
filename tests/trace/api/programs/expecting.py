# SPDX-License-Identifier: Apache-2.0
"""Says of objects of many kinds that they may grow; prints what the program can tell of that."""
import json
import os
import sys
import weakref
from collections import deque

import torch
from torch import nn

import memtrace


def refuses(*anything, **named):
    raise RuntimeError("nobody may ask this")


class Odd:
    __getattr__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __repr__ = __str__ = refuses
    __class__ = property(refuses)


class OddText(str):
    encode = replace = __str__ = __eq__ = refuses
    __hash__ = str.__hash__


class OddMeta(type):
    __instancecheck__ = __subclasscheck__ = __getattribute__ = refuses


OddKind = OddMeta("OddKind", (), {})


class Slots:
    __slots__ = ("kept", "__weakref__")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.register_buffer("queue", torch.zeros(4))
        self.masks = {}


outputs, cache, window = [], {"rows": []}, deque(maxlen=4)
odd = [Odd(), object.__new__(OddKind), OddText("self.odd"), None, 3, b"", Ellipsis, NotImplemented, os, Odd, OddKind,
       refuses, lambda: outputs, weakref.proxy(Slots()), weakref.ref(Model), sys._getframe(), iter([1]),
       (one for one in [1]), memoryview(b"x"), "x\0y", "\ud800", "", "x" * 5000, globals(), sys.modules]


class Program:
    def __init__(self):
        self.history = []
        memtrace.expect_growth(self.history, "from its own __init__")
        self.slots = Slots()
        self.slots.kept = {}
        self.model = Model()

    def go(self):
        local, captured = [], []
        memtrace.expect_growth(local, "a local")
        memtrace.expect_growth(captured, "a cell")
        memtrace.expect_growth(self.slots.kept, "a slot")
        memtrace.expect_growth(self.model, "a module")
        memtrace.expect_growth(self.model.queue, "a buffer")
        memtrace.expect_growth(self.model.masks, "an attribute of a module")
        return lambda: captured, local

    def again(self):
        for _ in range(10_000):
            memtrace.expect_growth(self.history, "again and again")
        for _ in range(200):
            self.last = [None]
            memtrace.expect_growth(self.last, "another one each time")


def counts(things) -> list[int]:
    return [sys.getrefcount(one) for one in things]


kept_things = [outputs, cache, window]
before = counts(kept_things)
memtrace.expect_growth(outputs, "a global")
memtrace.expect_growth(cache["rows"], "in a dictionary")
memtrace.expect_growth(window, "a deque")
memtrace.expect_growth("Trainer.outputs", "a pattern ü")
print("counts", counts(kept_things) == before)
program = Program()
program.go()
program.again()
for one in odd:
    memtrace.expect_growth(one, "odd")
gone = Slots()
gone.kept = torch.zeros(10)
dead = weakref.ref(gone.kept)
memtrace.expect_growth(gone.kept, "gone at once")
del gone
print("gone", dead() is None)


def released():
    tensor = torch.zeros(10)
    watched = weakref.ref(tensor)
    memtrace.expect_growth([tensor], "an argument")
    memtrace.expect_growth(tensor, "a variable that is deleted")
    del tensor
    return watched() is None


print("released", released())
print("errno", os.strerror(0) is not None and sys.exc_info() == (None, None, None))
child = os.fork()
torch.zeros(1000, device="cuda")
memtrace.expect_growth("said after", "the recording began")
if child:
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("child", status)
print(json.dumps({"main": child != 0}))
