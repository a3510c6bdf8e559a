# SPDX-License-Identifier: Apache-2.0
"""A model of tests/programs, trained as many steps as somebody asks for, again and again.

compiled_steps.py MODEL eager|compiled: warms up, prints READY and JSON (warm_up_s, allocations of a
step), then for each line with a number of steps on its input trains them and prints JSON: ns of the
clock (wall), of all threads' processor time (cpu), and of that in user mode (user).
With --count STEPS instead: for a profiler, which is told by getpriority() when all is warm."""

import ctypes
import gc
import json
import os
import resource
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "programs"))

import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402

WARM_UP = 20  # the agent learns names in the first sixteen


def nano_gpt(compiled: bool):
    from nano_gpt import GPT
    model = GPT().cuda()
    forward = torch.compile(model) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.zeros(4, 128, dtype=torch.long, device="cuda")
    return optimizer, lambda: forward(tokens, tokens)


def resnet(compiled: bool):
    from resnet import ResNet
    model = ResNet().cuda()
    forward = torch.compile(model) if compiled else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    pictures = torch.zeros(8, 3, 32, 32, device="cuda")
    labels = torch.zeros(8, dtype=torch.long, device="cuda")
    return optimizer, lambda: F.cross_entropy(forward(pictures), labels)


MODELS = {"nano_gpt": nano_gpt, "resnet": resnet}


def allocations() -> int:
    return torch.cuda.memory_stats()["allocation.all.allocated"]


def user_ns() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime * 1e9


def main(name: str, how: str, count: int) -> None:
    torch.set_num_threads(1)
    begun = time.perf_counter()
    optimizer, loss = MODELS[name](how == "compiled")

    def train(steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()

    train(WARM_UP)
    gc.collect()
    gc.disable()  # it comes at other steps when memory is recorded
    before = allocations()
    if count:
        os.getpriority(os.PRIO_PROCESS, 0)
        train(count)
        print("EVENTS", 2 * (allocations() - before), flush=True)
        ctypes.CDLL(None)._exit(0)  # as in loops.py
    train(1)
    print("READY", json.dumps({"warm_up_s": time.perf_counter() - begun,
                               "allocations": allocations() - before}), flush=True)
    for line in sys.stdin:
        user, cpu, wall = user_ns(), time.process_time_ns(), time.perf_counter_ns()
        train(int(line))
        print(json.dumps({"wall": time.perf_counter_ns() - wall, "cpu": time.process_time_ns() - cpu,
                          "user": user_ns() - user}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[4]) if "--count" in sys.argv else 0)
