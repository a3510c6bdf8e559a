# SPDX-License-Identifier: Apache-2.0
"""The main thread waits in C while another thread works: the check must run all the same."""
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probe import Probe  # noqa: E402


def threads():
    return len(os.listdir("/proc/self/task"))


def work(answer):
    probe = Probe(sys.argv[1])
    before = threads()
    news = None
    end = time.monotonic() + 30
    while news is None and time.monotonic() < end:
        probe.capture()
        news = probe.holding.probe_news()
        time.sleep(0.01)
    while threads() != before and time.monotonic() < end:
        time.sleep(0.01)
    answer.update(status=news and news.decode(), threads_before=before, threads_after=threads())
    done.release()


done = threading.Lock()
done.acquire()
result = {}
threading.Thread(target=work, args=(result,)).start()
done.acquire()
print(json.dumps(result))
