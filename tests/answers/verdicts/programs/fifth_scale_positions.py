# SPDX-License-Identifier: Apache-2.0
"""A vision transformer for pictures of many shapes; positions are made for a grid when it first comes."""

import argparse
import itertools
import random

import torch
import torch.nn.functional as F
from torch import nn

SCALES = (6, 8, 10, 12)


class GridPositions:
    def __init__(self, width):
        self.rates = (100 ** -torch.linspace(0, 1, width // 4)).cuda()
        self.made = {}

    def __call__(self, rows, columns):
        key = rows, columns
        if key not in self.made:
            y = torch.arange(rows, device="cuda")[:, None] * self.rates
            x = torch.arange(columns, device="cuda")[:, None] * self.rates
            down = torch.cat([y.sin(), y.cos()], 1)[:, None].expand(-1, columns, -1)
            across = torch.cat([x.sin(), x.cos()], 1)[None].expand(rows, -1, -1)
            self.made[key] = torch.cat([down, across], 2).flatten(0, 1)
        return self.made[key]


class Transformer(nn.Module):
    def __init__(self, width=256, classes=10):
        super().__init__()
        self.patches = nn.Linear(48, width)
        self.positions = GridPositions(width)
        self.mix, self.head = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, patches, grid):
        x = self.patches(patches) + self.positions(*grid)
        x = x + F.softmax(x @ x.transpose(1, 2) / 16, -1) @ self.mix(x)
        return self.head(x.mean(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    grids = list(itertools.product(SCALES, SCALES))
    model = Transformer().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(args.steps):
        grid = random.choice(grids)  # step
        patches = torch.randn(2, grid[0] * grid[1], 48).cuda()
        loss = F.cross_entropy(model(patches, grid), torch.randint(10, (2,)).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del patches


if __name__ == "__main__":
    main()
