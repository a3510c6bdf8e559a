# SPDX-License-Identifier: Apache-2.0
"""Adds to the same two gradients over and over, and prints by how many KiB its own memory grew once it
had begun: accumulates.py TIMES"""

import re
import sys
from pathlib import Path

import torch


def anonymous() -> int:
    return int(re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])


weights = [torch.ones(64, device="cuda", requires_grad=True) for _ in range(2)]


def accumulate(times: int) -> None:
    for _ in range(times):
        (weights[0] * weights[1]).sum().backward()


accumulate(20000)  # until the places of forward calls, 1 MiB, have come around
before = anonymous()
accumulate(int(sys.argv[1]))
print(anonymous() - before)
