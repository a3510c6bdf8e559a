# SPDX-License-Identifier: Apache-2.0
"""A program with memory pools of its own (torch.cuda.MemPool): one for its weights and states, one
for what it computes."""

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=4)
    kept, computed = torch.cuda.MemPool(), torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(kept):
        model = nn.Sequential(nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(),
                              nn.Linear(2048, 10)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    rows = ((torch.rand(2048, 784), torch.randint(10, (2048,))) for _ in range(chosen.steps))
    for row, label in on_device(rows, chosen.streams):
        with torch.cuda.use_mem_pool(computed):
            loss = nn.functional.cross_entropy(model(row), label)
            loss.backward()
        with torch.cuda.use_mem_pool(kept):
            optimizer.step()
        optimizer.zero_grad()
    print(f"memory pool: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
