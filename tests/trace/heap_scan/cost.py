# SPDX-License-Identifier: Apache-2.0
"""The cost of a census: CPU time and memory for a million objects, in this interpreter.

python tests/trace/heap_scan/cost.py build/release/tests/libmemtrace_census_probe.so
"""
import sys

sys.path.insert(0, __file__.rpartition("/")[0])
from probe import Held, Probe  # noqa: E402

COUNT = 250_000


class Sample:
    def __init__(self, number):
        self.values = [number, {"a": Sample}]
        self.again = (self.values, number)


def main():
    probe = Probe(sys.argv[1])
    samples = [Sample(number) for number in range(COUNT)]
    thing = Held()
    samples[-1].last = thing
    best = None
    for _ in range(5):
        probe.take(most_objects=10_000_000)
        best = min(probe.cpu_seconds(), best or 1e9)
    print("%s: %.0f ms for %.2f million objects, %.0f ms a million" % (
        sys.version.split()[0], best * 1e3, probe.objects() / 1e6,
        best * 1e9 / probe.objects()))
    assert id(thing) in probe.rows()


main()
