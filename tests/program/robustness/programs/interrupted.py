# SPDX-License-Identifier: Apache-2.0
"""Trains under a timer's signals, a thousand a second, whose handler allocates on the GPU as well."""

import signal
import sys

import torch

from small_training import Training

training, ticks = Training(), []


def tick(number, frame):
    if len(ticks) < 200:
        ticks.append(torch.empty(64, device="cuda"))


signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while len(ticks) < 200:
    training.step()
signal.setitimer(signal.ITIMER_REAL, 0)
stats = torch.cuda.memory_stats()
print("ticks", len(ticks))
print(stats["allocation.all.allocated"], stats["allocation.all.freed"], file=sys.stderr)
