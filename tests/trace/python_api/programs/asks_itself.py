# SPDX-License-Identifier: Apache-2.0
"""Trains, and says what memtrace.report() told on the way beside what PyTorch counts."""

import json
import os
import threading

import memtrace
import torch

said = {"before_cuda": memtrace.report() is None}
model = torch.nn.Sequential(torch.nn.Linear(300, 700), torch.nn.ReLU(), torch.nn.Linear(700, 300)).cuda()
optimizer = torch.optim.AdamW(model.parameters())


def train(steps: int) -> None:
    for _ in range(steps):
        model(torch.ones(64, 300, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def look() -> dict:
    report = memtrace.report()
    return {"told": report.devices[0].peak_allocated_bytes, "steps": report.steps.count,
            "counted": torch.cuda.max_memory_allocated()}


train(3)
generator = torch.random.get_rng_state()
said["early"] = look()
said["generator_stays"] = bool(torch.equal(generator, torch.random.get_rng_state()))
kept = torch.empty(5_000_000, device="cuda")
train(3)
looked = []
thread = threading.Thread(target=lambda: looked.append(look()))
thread.start()
thread.join()
said["late"] = looked[0]
child = os.fork()
if child == 0:
    os._exit(0 if memtrace.report() is None else 1)
said["child"] = os.waitpid(child, 0)[1]
stats = torch.cuda.memory_stats()
said["allocations"] = stats["allocation.all.allocated"]
said["peak"] = stats["allocated_bytes.all.peak"]
said["current"] = stats["allocated_bytes.all.current"]
said["live"] = stats["allocation.all.current"]
said["requested"] = stats["requested_bytes.all.allocated"]
print(json.dumps(said), flush=True)
os._exit(0)  # nothing is freed after the numbers
