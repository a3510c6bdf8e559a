# SPDX-License-Identifier: Apache-2.0
"""Allocates and frees as it is told, a line a time on its standard input: `events N`, `end`.
Answers each with the allocations and frees it has done so far, and the bytes that it holds."""

import random
import sys

import torch

choose = random.Random(1)
held = [torch.empty(1000, device="cuda") for _ in range(20)]
kept = torch.empty(1 << 20, device="cuda")
done = len(held) + 1


def events(count: int) -> None:
    """Sizes that do not compress, and always about as much held."""
    global done
    for _ in range(count // 2):
        place = choose.randrange(len(held))
        held[place] = None
        held[place] = torch.empty(choose.randrange(1, 1 << 18), device="cuda")
        done += 2


for line in sys.stdin:
    what, _, count = line.strip().partition(" ")
    if what == "events":
        events(int(count))
    elif what == "end":
        break
    print(done, torch.cuda.memory_allocated(), flush=True)
print("end", torch.cuda.max_memory_allocated(), flush=True)
