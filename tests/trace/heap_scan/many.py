# SPDX-License-Identifier: Apache-2.0
"""Lists of millions of objects, in an order that is not that of their addresses, and a census with
the time that it really has. Prints what it took, as JSON.

many.py PROBE COUNT KIND"""
import gc
import json
import sys

sys.path.insert(0, __file__.rpartition("/")[0])
from probe import Held, Probe  # noqa: E402

SHAPES = {
    "list": lambda things: things,
    "dict": lambda things: dict(zip(map(id, things), things)),
    "set": lambda things: {frozenset((number,)) for number in range(len(things))},
    "deque": lambda things: __import__("collections").deque(things),
    "tuple": tuple,
}


def main():
    probe = Probe(sys.argv[1])
    count, shape = int(sys.argv[2]), sys.argv[3]
    gc.disable()
    things = [[] for _ in range(count)]
    things = [things[number * 7919 % count] for number in range(count)]  # a prime: each comes once
    kept = SHAPES[shape](things)
    del things
    thing = Held()
    probe.take(in_time=True)
    first = probe.cpu_seconds()
    print(json.dumps({"cpu_seconds": first, "objects": probe.objects(),
                      "incomplete": probe.is_incomplete(), "kept": len(kept),
                      "held": id(thing) in probe.rows()}))
    sys.stdout.flush()
    __import__("os")._exit(0)  # freeing takes as long as making


main()
