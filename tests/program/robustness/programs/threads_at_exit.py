# SPDX-License-Identifier: Apache-2.0
"""Daemon threads that allocate and free while the main thread ends the process."""

import sys
import threading
import time

import torch

from small_training import Training

training = Training()
training.steps(2)
started = threading.Barrier(5)


def works():
    started.wait()
    while True:
        torch.empty(1 << 16, device="cuda")


for _ in range(4):
    threading.Thread(target=works, daemon=True).start()
started.wait()
time.sleep(0.2)
print("leaving", flush=True)
if sys.argv[1:] == ["os._exit"]:
    import os

    os._exit(5)
