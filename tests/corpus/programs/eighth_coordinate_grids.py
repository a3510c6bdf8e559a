# SPDX-License-Identifier: Apache-2.0
"""Semantic segmentation at many picture sizes: coordinates and distances from the middle are further input channels."""

import argparse
import itertools
import random
from functools import lru_cache

import torch
from torch import nn
from torch.nn import functional

SIDES = (32, 40, 48, 56, 64, 72)
CLASSES = 5


@lru_cache(maxsize=None)
def coordinates(height, width):
    rows = torch.linspace(-1, 1, height, device="cuda")
    columns = torch.linspace(-1, 1, width, device="cuda")
    grid = torch.stack(torch.meshgrid(rows, columns, indexing="ij"))
    return torch.cat([grid, grid.square().sum(0, keepdim=True).sqrt()])


class SegmentationNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.first = nn.Conv2d(3 + 3, width, 3, padding=1)
        self.dilated = nn.Conv2d(width, width, 3, padding=2, dilation=2)
        self.last = nn.Conv2d(width, CLASSES, 1)

    def forward(self, pictures):
        where = coordinates(*pictures.shape[-2:]).expand(len(pictures), -1, -1, -1)
        features = functional.relu(self.first(torch.cat([pictures, where], 1)))
        features = features + functional.relu(self.dilated(features))
        return self.last(features)


class MultiScale:
    """Every shape once, then every shape once more in another order."""

    def __init__(self, seed):
        self.shapes = list(itertools.product(SIDES, SIDES))
        self.chance = random.Random(seed)

    def __iter__(self):
        while True:
            self.chance.shuffle(self.shapes)
            yield from self.shapes


def load(height, width, batch=2):
    pictures = torch.rand(batch, 3, height, width)
    labels = torch.randint(CLASSES, (batch, height, width))
    return pictures.cuda(), labels.cuda()


def train_step(model, optimizer, shape):
    pictures, labels = load(*shape)
    loss = functional.cross_entropy(model(pictures), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = SegmentationNet().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    shapes = iter(MultiScale(chosen.seed))
    for step in range(chosen.steps):
        shape = next(shapes)  # step
        loss = train_step(model, optimizer, shape)
        if step % 8 == 0:
            print(f"step {step}: {shape[0]} x {shape[1]}, loss {loss:.3f}")


if __name__ == "__main__":
    main()
