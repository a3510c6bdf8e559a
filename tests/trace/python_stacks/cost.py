# SPDX-License-Identifier: Apache-2.0
"""Prints what a capture costs: python tests/trace/python_stacks/cost.py [PROBE_LIBRARY].

  repeated  the same stack again and again, as an allocation in a loop
  python    the same stack, with Python code run in between (caches and branches are colder)
  new       another line of the outermost caller each time: every frame is looked up
"""
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from probe import Probe  # noqa: E402

LIBRARY = os.path.join(HERE, "..", "..", "build", "release", "tests",
                       "libmemtrace_python_probe.so")
DEPTHS = (2, 5, 15, 40)


def at_depth(depth, function):
    if depth <= 1:
        return function()
    return at_depth(depth - 1, function)


def repeated(probe, depth):
    cost = probe.holding.probe_cost
    return min(at_depth(depth - 1, lambda: cost(200_000)) for _ in range(5))


def with_python_between(probe, depth):
    one = probe.holding.probe_cost_of_one
    return statistics.median([at_depth(depth - 1, one) for _ in range(20_000)])


def from_another_line(probe, depth):
    one = probe.holding.probe_cost_of_one
    costs = []
    for _ in range(10_000):
        costs.append(at_depth(depth - 1, one))
        costs.append(at_depth(depth - 1, one))
    return statistics.median(costs)


def main():
    probe = Probe(sys.argv[1] if len(sys.argv) > 1 else LIBRARY)
    status = probe.wait_until_checked()
    if status != "on":
        sys.exit("Python stacks are off: %s" % status)
    print("Python %s, ns a capture%s" % (sys.version.split()[0],
                                         "".join("%8d deep" % depth for depth in DEPTHS)))
    for name, measure in (("repeated", repeated), ("python", with_python_between),
                          ("new", from_another_line)):
        print("  %-24s%s" % (name, "".join("%13.0f" % measure(probe, d) for d in DEPTHS)))


if __name__ == "__main__":
    main()
