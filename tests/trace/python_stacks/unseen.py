# SPDX-License-Identifier: Apache-2.0
"""Traces of the check and of captures that a program could notice; each with a check of its own."""
import gc
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probe import Probe  # noqa: E402


def leaf(probe):
    probe.capture()
    probe.capture_released()


def tracer_sees_only_the_program(probe):
    files = set()

    def tracer(frame, event, argument):
        files.add(frame.f_code.co_filename)
        return tracer

    sys.settrace(tracer)
    for _ in range(100):
        leaf(probe)
    sys.settrace(None)
    assert files <= {__file__, os.path.abspath(__file__)}, files


def an_exception_in_a_handler_reaches_the_program(probe):
    class Alarm(Exception):
        pass

    def handler(number, frame):
        raise Alarm

    signal.signal(signal.SIGALRM, handler)
    caught = 0
    for _ in range(5):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)  # once: a second one could come after the try
            while True:
                leaf(probe)
        except Alarm:
            caught += 1
    assert caught == 5


def references_stay_as_they_were(probe):
    def function():
        leaf(probe)

    code = function.__code__
    function()
    before = sys.getrefcount(code), sys.getrefcount(code.co_name), sys.getrefcount(None)
    for _ in range(1000):
        function()
    after = sys.getrefcount(code), sys.getrefcount(code.co_name), sys.getrefcount(None)
    assert before[:2] == after[:2], (before, after)
    assert abs(before[2] - after[2]) < 50, (before, after)


def code_objects_are_freed(probe):
    def living():
        gc.collect()
        return sum(type(o).__name__ == "function" and o.__name__ == "short_lived"
                   for o in gc.get_objects())

    for i in range(100):
        names = {"leaf": leaf, "probe": probe}
        exec("def short_lived():\n  leaf(probe)\nshort_lived()\n", names)
        names.clear()
    assert living() == 0


def main():
    probe = Probe(sys.argv[1])
    tracer_sees_only_the_program(probe)  # the check is asked for while a tracer is on
    an_exception_in_a_handler_reaches_the_program(probe)
    references_stay_as_they_were(probe)
    code_objects_are_freed(probe)
    assert sys.exc_info() == (None, None, None)
    print("unseen")


main()
