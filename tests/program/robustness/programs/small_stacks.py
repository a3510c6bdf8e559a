# SPDX-License-Identifier: Apache-2.0
"""Allocates in threads with little stack, and at the end of a deep recursion."""

import sys
import threading

import torch

from small_training import counters

torch.ones(8, device="cuda")


def works():
    for size in range(20):
        torch.empty(1024 * (1 + size), device="cuda")


threading.stack_size(int(sys.argv[1]) << 10)
for _ in range(4):
    thread = threading.Thread(target=works)
    thread.start()
    thread.join()
threading.stack_size(0)


def deep(depth: int) -> None:
    torch.empty(256, device="cuda")
    deep(depth + 1)


try:
    deep(0)
except RecursionError:
    print("too deep")
print(counters())
