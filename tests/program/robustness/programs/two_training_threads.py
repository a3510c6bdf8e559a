# SPDX-License-Identifier: Apache-2.0
"""Two threads train, each a model of its own, at the same time."""

import threading

from small_training import COUNTS, Training, counters

# How many handles of cuBLAS there are, and so workspaces, must not depend on who comes first.
together = threading.Barrier(2)
ends = []


def train(width):
    training = Training(width)
    for _ in range(10):
        training.step()
        together.wait()
    ends.append(width)


threads = [threading.Thread(target=train, args=(width,)) for width in (64, 96)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# The peak is of what the two had at one moment: another one in each run.
print(sorted(ends), counters(COUNTS))
