# SPDX-License-Identifier: Apache-2.0
"""Allocations from generators, coroutines, threads, text that is executed, destructors, workers."""
import asyncio
import gc
import threading

import torch
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda"


def allocate(count=1):
    return [torch.empty(100 + i, device=DEVICE) for i in range(count)]


def produce(count):
    for _ in range(count):
        yield allocate()


async def wait_and_allocate():
    kept = allocate()
    await asyncio.sleep(0)
    return kept + allocate()


async def together():
    await asyncio.gather(*(wait_and_allocate() for _ in range(5)))


class AllocatesAtItsEnd:
    def __init__(self):
        self.itself = self

    def __del__(self):
        allocate(2)


def executed(round_):
    names = {"allocate": allocate}
    text = "\n" * (round_ % 5) + "def f%d():\n  return allocate(2)\nkept = f%d()\n" % (round_, round_)
    exec(compile(text, "<round %d>" % round_, "exec"), names)
    exec(compile("def grün():\n  allocate()\ngrün()\n", "<größe>", "exec"), names)


def in_a_thread():
    for round_ in range(20):
        executed(round_)
        list(produce(2))


def batches():
    data = TensorDataset(torch.rand(64, 10))
    for (batch,) in DataLoader(data, batch_size=8, num_workers=2, pin_memory=True):
        batch.to(DEVICE, non_blocking=True)


def main():
    for round_ in range(30):
        list(produce(3))
        executed(round_)
        [allocate(2) for _ in range(2)]
        sorted(range(3), key=lambda _: len(allocate()))
        AllocatesAtItsEnd()
        gc.collect()
    asyncio.run(together())
    for _ in range(3):
        thread = threading.Thread(target=in_a_thread)
        thread.start()
        thread.join()
    batches()


main()
