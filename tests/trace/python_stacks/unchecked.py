# SPDX-License-Identifier: Apache-2.0
"""Captures in another thread while the main thread is in one call into C: nothing was checked.

Short enough that the helper is not due.
"""
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probe import Comparison, Probe  # noqa: E402

probe = Probe(sys.argv[1])
compare = Comparison(probe)
news = []


def main_line():
    return sys._current_frames()[threading.main_thread().ident].f_lineno


def work():
    while main_line() != WAITS_AT:
        time.sleep(0.001)
    for i in range(200):
        exec(compile("\n" * (i % 5) + "compare()\n", "<%d>" % (i % 7), "exec"), {"compare": compare})
    news.append(probe.holding.probe_news())
    done.release()


done = threading.Lock()
done.acquire()
sys.setswitchinterval(100)  # no thread is made to give up the GIL
WAITS_AT = sys._getframe().f_lineno + 2
threading.Thread(target=work).start()
done.acquire()
print(json.dumps({"status": news[0] and news[0].decode(), "wrong": compare.wrong,
                  "comparisons": compare.count}))
