# SPDX-License-Identifier: Apache-2.0
"""Training that keeps so many bytes on the host a step, beside children that hold memory of their own.

Prints what is true: resident memory before and after, and the children's proportional memory."""

import os
import re
import sys
import time

import torch
from torch import nn

STEPS = 120
CHILD_BYTES = 48 << 20


def bytes_in(path, key):
    with open(path) as file:
        return int(re.search(rf"^{key}:\s+(\d+) kB", file.read(), re.M).group(1)) << 10


def start_child():
    ready, tell = os.pipe()
    process = os.fork()
    if process == 0:
        held = bytearray(os.urandom(1) * CHILD_BYTES)
        os.write(tell, b"x")
        time.sleep(600 + len(held))
    os.read(ready, 1)
    return process


def main():
    kept_a_step, children = int(sys.argv[1]), int(sys.argv[2])
    started = [start_child() for _ in range(children)]
    model = nn.Linear(64, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = []
    for step in range(STEPS):
        model(torch.randn(8, 64).cuda()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        kept.append(os.urandom(kept_a_step))
        time.sleep(0.02)  # a model that takes its time
        if step == 20:
            print("early", bytes_in("/proc/self/status", "VmRSS"), flush=True)
    free, total = torch.cuda.mem_get_info()
    print("device", total - free)
    print("late", bytes_in("/proc/self/status", "VmRSS"))
    time.sleep(0.5)
    for process in started:
        print("child", process, bytes_in(f"/proc/{process}/smaps_rollup", "Pss"))
    for process in started:
        os.kill(process, 9)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main()
