# SPDX-License-Identifier: Apache-2.0
"""Detection at another size every fifth step, so that the model sees things small and large."""

import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=59)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)
SIDES = (160, 96, 224, 128, 192)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.SiLU())
        self.heads = nn.ModuleDict({"boxes": nn.Conv2d(32, 4, 1), "scores": nn.Conv2d(32, 20, 1)})

    def forward(self, images):
        features = self.stem(images)
        return {name: head(features) for name, head in self.heads.items()}


class Sizes:
    def __init__(self):
        self.left = []

    def next(self):
        self.left = self.left or random.sample(SIDES, len(SIDES))
        return self.left.pop()


detector, sizes = Detector().cuda(), Sizes()
optimizer = torch.optim.SGD(detector.parameters(), lr=0.01, momentum=0.9)
for step in range(options.steps):
    side = sizes.next() if step % 5 == 0 else side  # step
    found = detector(torch.randn(8, 3, side, side, device="cuda"))
    optimizer.zero_grad()
    sum(one.square().mean() for one in found.values()).backward()
    optimizer.step()
