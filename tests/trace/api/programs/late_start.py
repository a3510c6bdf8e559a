# SPDX-License-Identifier: Apache-2.0
"""Trains, calls memtrace.start() meanwhile, trains on; one JSON object says what PyTorch's allocator says.

usage: late_start.py [--first] [--before STEPS] [--output FOLDER] [--stop]
"""
import argparse
import ctypes
import json

import memtrace

chosen = argparse.ArgumentParser()
chosen.add_argument("--first", action="store_true", help="before PyTorch is imported")
chosen.add_argument("--before", type=int, default=6)
chosen.add_argument("--output")
chosen.add_argument("--stop", action="store_true")
chosen = chosen.parse_args()
if chosen.first:
    memtrace.start(chosen.output)

import torch  # noqa: E402

model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256))
kept = []


def train(steps):
    for _ in range(steps):
        model(torch.randn(64, 256, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        kept.append(torch.empty(1 << 18, device="cuda"))


def blocks():
    """[device, address, requested bytes] of each that is in use."""
    found = []
    can_tell = torch.cuda.is_initialized() and torch.cuda.get_allocator_backend() == "native"
    for segment in torch.cuda.memory._snapshot()["segments"] if can_tell else []:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] != "inactive":
                found.append([segment["device"], address, block["requested_size"]])
            address += block["size"]
    return found


if chosen.before:
    model.cuda()
optimizer = torch.optim.AdamW(model.parameters())
train(chosen.before)
found = blocks()
path = memtrace.start(chosen.output)
memtrace.counter("from here on", 1)
if chosen.before:
    torch.cuda.reset_peak_memory_stats()
before = torch.cuda.memory_stats().get("allocation.all.allocated", 0)
model.cuda()
train(24)
memory = ctypes.c_void_p()
assert ctypes.CDLL(None).cudaMalloc(ctypes.byref(memory), 3 << 20) == 0
stats = torch.cuda.memory_stats()
said = {"active": memtrace.is_active(), "path": path, "found": found, "allocations": stats["allocation.all.allocated"] - before,
        "peak": stats["allocated_bytes.all.peak"], "left": blocks()}
if chosen.stop:
    said["stopped"] = memtrace.stop()
    train(4)
    try:
        memtrace.start()
    except RuntimeError as error:
        said["again"] = str(error)
    said["active_at_the_end"] = memtrace.is_active()
print(json.dumps(said))
