# SPDX-License-Identifier: Apache-2.0
"""Trains under one allocator; prints as JSON what that allocator says of its peak.

python training.py [LIBRARY]     LIBRARY: counting_allocator, built; else as the environment says
"""

import ctypes
import json
import os
import sys

import torch
from torch import nn


def train():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(4):
        batch = torch.randn(256 + 32 * step, 1024, device="cuda")
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    torch.cuda.synchronize()


def main():
    facts = {}
    if len(sys.argv) > 1:
        library = sys.argv[1]
        allocator = torch.cuda.memory.CUDAPluggableAllocator(library, "take", "give_back")
        torch.cuda.memory.change_current_allocator(allocator)
    train()
    if len(sys.argv) > 1:
        peak = ctypes.CDLL(library).peak_bytes
        peak.restype = ctypes.c_size_t
        facts["peak"] = peak()
    elif "PYTORCH_NO_CUDA_MEMORY_CACHING" not in os.environ:
        stats = torch.cuda.memory_stats()
        facts["peak"] = stats["allocated_bytes.all.peak"]
        facts["requested"] = stats.get("requested_bytes.all.peak")
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
