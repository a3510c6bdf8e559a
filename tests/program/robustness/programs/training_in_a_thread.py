# SPDX-License-Identifier: Apache-2.0
"""The main thread only waits; a second one trains."""

import threading

from small_training import Training, counters

said = []


def train():
    training = Training()
    training.steps(4)
    said.append(counters())


thread = threading.Thread(target=train)
thread.start()
thread.join()
print(said)
