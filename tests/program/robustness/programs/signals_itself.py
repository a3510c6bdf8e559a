# SPDX-License-Identifier: Apache-2.0
"""SIGTERM: by default, or with a handler that leaves properly."""

import os
import signal
import sys

from small_training import Training, counters

training = Training()
training.steps(3)
print(counters(), flush=True)
if sys.argv[1:] == ["handled"]:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(9))
os.kill(os.getpid(), getattr(signal, sys.argv[2] if len(sys.argv) > 2 else "SIGTERM"))
training.steps(1)
print("not reached")
