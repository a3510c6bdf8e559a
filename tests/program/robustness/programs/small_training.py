# SPDX-License-Identifier: Apache-2.0
"""Trains a perceptron on the GPU: the other programs of this folder do a little of it."""

import torch
from torch import nn


class Training:
    def __init__(self, width: int = 64):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.width = width

    def step(self) -> float:
        self.optimizer.zero_grad()
        loss = self.model(torch.rand(32, self.width, device="cuda")).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.step()


COUNTS = ("allocation.all.allocated", "allocation.all.freed", "allocated_bytes.all.current", "num_ooms")
PEAKS = ("allocated_bytes.all.peak", "reserved_bytes.all.peak")


def counters(names=COUNTS + PEAKS) -> str:
    """How often the allocator was used, and how much it holds: the same with and without memtrace."""
    stats = torch.cuda.memory_stats()
    return " ".join(f"{name}={stats[name]}" for name in names)
