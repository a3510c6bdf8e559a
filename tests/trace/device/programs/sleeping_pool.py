# SPDX-License-Identifier: Apache-2.0
"""Blocks of a pool fall asleep and wake up while others are made on the same GPU: sleeping_pool.py LIBRARY CASE.
Prints at each moment what of PyTorch's blocks is resident, what is asleep, and what the driver says is in use."""
import ctypes
import os
import sys

import torch

GIB = 1 << 30
library = os.path.abspath(sys.argv[1])
case = sys.argv[2]
calls = ctypes.CDLL(library)
allocator = torch.cuda.memory.CUDAPluggableAllocator(library, "pool_malloc", "pool_free")
torch.zeros(1, device="cuda")
pool = torch.cuda.MemPool(allocator._allocator)
asleep = [0, 0]  # GiB, by block of the pool


def say() -> None:
    free, total = torch.cuda.mem_get_info()
    slept = sum(asleep) * GIB
    print(torch.cuda.memory_allocated() - slept, slept, total - free)


def pooled(gib: int) -> torch.Tensor:
    with torch.cuda.use_mem_pool(pool):
        made = torch.empty(gib * GIB, dtype=torch.uint8, device="cuda")
    say()
    return made


def taken(gib: int) -> list:
    made = []
    for _ in range(gib):
        made.append(torch.empty(GIB, dtype=torch.uint8, device="cuda"))
        say()
    return made


def sleep(block: int, gib: int) -> None:
    failed = calls.pool_sleep(block, gib)
    if failed:
        raise RuntimeError(f"the pool could not wake up: error {failed}")
    asleep[block] = gib
    say()


if case == "whole":
    engine = pooled(14)
    for _ in range(8):
        sleep(0, 14)
        saved = taken(16)
        del saved
        torch.cuda.empty_cache()
        sleep(0, 0)
elif case == "turns":
    first, second = pooled(9), pooled(7)
    for _ in range(3):
        sleep(0, 9)
        saved = taken(11)
        del saved
        torch.cuda.empty_cache()
        sleep(0, 0)
        sleep(1, 7)
        saved = taken(10)
        del saved
        torch.cuda.empty_cache()
        sleep(1, 0)
elif case == "part":
    engine = pooled(12)
    for _ in range(2):
        sleep(0, 5)
        saved = taken(13)
        del saved
        torch.cuda.empty_cache()
        sleep(0, 0)
elif case == "wakes_highest":
    engine = pooled(10)
    sleep(0, 10)
    saved = taken(8)
    sleep(0, 0)
    sleep(0, 10)
elif case == "ends_asleep":
    engine = pooled(14)
    sleep(0, 14)
    saved = taken(15)
elif case == "refused":
    engine = pooled(14)
    sleep(0, 14)
    saved = taken(15)
    sleep(0, 0)
elif case == "freed":
    engine = pooled(14)
    sleep(0, 14)
    del engine
    asleep[0] = 0
    say()
    del pool
    torch.cuda.empty_cache()
    saved = taken(18)
else:
    sys.exit(f"no case {case}")
