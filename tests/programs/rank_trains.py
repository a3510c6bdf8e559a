# SPDX-License-Identifier: Apache-2.0
"""Trains as one rank (RANK), keeps what it should not, and says what PyTorch counts: in the middle, where it
takes a snapshot, and at the end."""

import json
import os

import memtrace
import torch

rank = int(os.environ["RANK"])
torch.cuda.memory._record_memory_history(max_entries=100_000)
layer = torch.nn.TransformerEncoderLayer(32, 2, 64, batch_first=True, dropout=0.0)
model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
optimizer = torch.optim.AdamW(model.parameters())
history = []


def active_blocks() -> list:
    """Address and size of each block in use."""
    return sorted((block["address"], block["size"])
                  for segment in torch.cuda.memory._snapshot()["segments"]
                  for block in segment["blocks"] if block["state"] == "active_allocated")


def train(steps: int) -> None:
    for _ in range(steps):
        batch = torch.ones(8 + 4 * rank, 24, 32, device="cuda")
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        history.append(model(batch)[0])


train(10)
batch = torch.ones(16, 24, 32, device="cuda")
middle = model(batch).square().mean()  # activations live now
said = {"middle": active_blocks()}
middle.backward()
optimizer.zero_grad()
cache = torch.empty(3_000_000, device="cuda")
memtrace.annotate(cache, "kv_cache", "request 7")
train(10)
memtrace.census()
said["end"] = active_blocks()
stats = torch.cuda.memory_stats()
said["allocations"] = stats["allocation.all.allocated"]
said["requested"] = stats["requested_bytes.all.allocated"]
said["peak"] = stats["allocated_bytes.all.peak"]
said["peak_reserved"] = stats["reserved_bytes.all.peak"]
print(json.dumps(said), flush=True)
os._exit(0)  # nothing is freed after the numbers
