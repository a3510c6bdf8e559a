# SPDX-License-Identifier: Apache-2.0
"""A perceptron under bitsandbytes' 8-bit Adam, that becomes float16 in the middle of the training."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import bitsandbytes
import torch
from torch import nn

from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=4)
    model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 4096), nn.GELU(),
                          nn.Linear(4096, 100)).to(DEVICE)
    rows = ((torch.rand(1024, 1024), torch.randint(100, (1024,))) for _ in range(chosen.steps))
    optimizer = bitsandbytes.optim.Adam8bit(model.parameters(), lr=1e-3)
    for step, (row, label) in enumerate(on_device(rows, chosen.streams)):
        if step == chosen.steps // 2:
            model.half()
            optimizer = bitsandbytes.optim.Adam8bit(model.parameters(), lr=1e-3)
        loss = nn.functional.cross_entropy(model(row.to(model[0].weight.dtype)).float(), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"eight bit: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
