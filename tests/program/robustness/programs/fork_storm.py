# SPDX-License-Identifier: Apache-2.0
"""Forks over and over while other threads allocate; some children fork again, some exec."""

import os
import sys
import threading
import time

import torch

from small_training import Training

CHILDREN = 200

training = Training()
training.steps(2)
over = threading.Event()


def allocates():
    while not over.is_set():
        torch.empty(1 << 12, device="cuda")
        time.sleep(0.0005)


def child(number: int) -> None:
    if number % 10 == 1:
        os.execv("/bin/sh", ["sh", "-c", f"exit {number % 100}"])
    if number % 10 == 2:  # a grandchild, which the child does not wait for
        if os.fork() == 0:
            os._exit(0)
    if number % 10 == 3:  # a thread of a forked child
        thread = threading.Thread(target=lambda: bytearray(1 << 20))
        thread.start()
        thread.join()
    os._exit(number % 100)


threads = [threading.Thread(target=allocates) for _ in range(3)]
for thread in threads:
    thread.start()
ends, running = [], []
for number in range(CHILDREN):
    pid = os.fork()
    if pid == 0:
        child(number)
    running.append(pid)
    if len(running) == 20:
        ends += [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in running]
        running.clear()
over.set()
for thread in threads:
    thread.join()
print(len(ends), sum(ends))
training.steps(2)
stats = torch.cuda.memory_stats()
print(stats["allocation.all.allocated"], stats["allocation.all.freed"], file=sys.stderr)
