# SPDX-License-Identifier: Apache-2.0
"""Forked children: one that leaves by os._exit, one by sys.exit, one that execs; all without CUDA."""

import os
import sys

import torch

from small_training import Training, counters


def child(body) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        body()
        os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def computes():
    total = torch.ones(1000).sum().item()
    print("child computes", total, flush=True)
    os._exit(3)


training = Training()
training.steps(2)
print("os._exit:", child(computes))
print("exec:", child(lambda: os.execv("/bin/sh", ["sh", "-c", "echo child execs; exit 5"])))
training.steps(2)


def leaves_normally():
    print("child ends", flush=True)


sys.stdout.flush()
pid = os.fork()
if pid == 0:
    leaves_normally()
    sys.exit(6)
print("sys.exit:", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
training.steps(2)
print(counters())
