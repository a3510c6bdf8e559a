# SPDX-License-Identifier: Apache-2.0
"""Trains, keeps tensors in containers of every kind that names lead to, and prints their lengths at each step's end."""

import collections
import gc
import json

import torch
from torch import nn

STEPS = 60
cache = {}
window = collections.deque(maxlen=50)


class Meter(nn.Module):
    def __init__(self):
        super().__init__()
        self.values = []
        self.by_name = {"loss": [], "other": ()}


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(64, 64)).cuda()
        self.meter = Meter()
        self.recent = []
        self.seen = set()


def tensor() -> torch.Tensor:
    return torch.zeros(64 << 10, device="cuda")


def main() -> None:
    trainer = Trainer()
    outputs = []
    captured = []
    optimizer = torch.optim.SGD(trainer.model.parameters(), lr=0.01)
    for step in range(STEPS):
        optimizer.zero_grad()
        trainer.model(torch.ones(8, 64, device="cuda")).sum().backward()
        outputs.append(tensor())
        trainer.meter.values.append(tensor())
        trainer.meter.by_name["loss"].append(tensor())
        trainer.seen.add(tensor())
        cache[f"{step}"] = tensor()
        window.append(tensor())
        (lambda: captured.append(tensor()))()
        trainer.recent.append(tensor())
        if step % 17 == 16:
            trainer.recent = []  # another list, and what comes to the address of the old one is another
            noise = [[object()] * 40 for _ in range(100)]
            cache.clear()
            del noise
            gc.collect()
        optimizer.step()
        print(json.dumps({"outputs": len(outputs), "trainer.recent": len(trainer.recent), "cache": len(cache),
                          "window": len(window), "captured": len(captured), "trainer.seen": len(trainer.seen),
                          "trainer.meter.values": len(trainer.meter.values),
                          "trainer.meter.by_name['loss']": len(trainer.meter.by_name["loss"])}))


main()
