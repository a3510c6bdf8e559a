# SPDX-License-Identifier: Apache-2.0
"""A stack deeper than is kept, a forked child, captures at exit and from a daemon thread."""
import atexit
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probe import Comparison, Probe  # noqa: E402

probe = Probe(sys.argv[1])
assert probe.wait_until_checked() == "on"
OMITTED = ("", "<outer frames omitted>", 0)


def deep(n):
    if n > 0:
        return deep(n - 1)
    return probe.frames(probe.capture())


sys.setrecursionlimit(3000)
threading.stack_size(64 << 20)
for _ in range(3):
    frames = deep(2000)
    assert frames[-1] == OMITTED and all(frame[1] == "deep" for frame in frames[:-1])
    assert 1000 < len(frames) <= 1025
    assert OMITTED not in deep(500)
print("deep", flush=True)

child = os.fork()
if child == 0:
    compare = Comparison(probe)
    probe.holding.probe_restart_ids()
    for _ in range(10):
        compare()
    assert (probe.news(), probe.news()) == ("on", None)  # once in the child's own file
    print("child right" if not compare.wrong else compare.wrong, flush=True)
    os._exit(0)
_, status = os.waitpid(child, 0)
print("child ended", status, flush=True)


def endless():
    while True:
        for depth in range(30):
            deep(depth)


for _ in range(3):
    threading.Thread(target=endless, daemon=True).start()


class AtTheEnd:
    def __init__(self):
        self.capture = probe.capture

    def __del__(self):
        self.capture()


sys.modules["kept_to_the_end"] = AtTheEnd()
atexit.register(lambda: print("at exit" if deep(3) else "nothing", flush=True))
sys.exit(7)
