# SPDX-License-Identifier: Apache-2.0
"""Contrastive pairs: turning a picture is costly, so it is cached by picture and angle; the angle is any number."""

import argparse
import math
import random

import torch
from torch import nn
from torch.nn import functional as F


class Turned:
    """Pictures on the GPU, turned by an angle."""

    def __init__(self, pictures, rng):
        self.pictures, self.rng, self.done = pictures.cuda(), rng, {}

    def __len__(self):
        return len(self.pictures)

    def turn(self, index, angle):
        if (index, angle) not in self.done:
            turn = torch.tensor([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0]])
            grid = F.affine_grid(turn[None].cuda(), [1, 3, 48, 48], align_corners=False)
            picture = F.grid_sample(self.pictures[index:index + 1], grid, align_corners=False)  # allocates
            self.done[index, angle] = picture  # keeps
        return self.done[index, angle]

    def pair(self, index):
        angle = self.rng.uniform(-0.5, 0.5)
        return self.pictures[index], self.turn(index, angle)[0]


def loader(turned, size):
    while True:
        yield [torch.stack(side) for side in zip(*(turned.pair(turned.rng.randrange(len(turned)))
                                                   for _ in range(size)))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    batches = loader(Turned(torch.rand(40, 3, 48, 48), random.Random(args.seed)), 2)
    net = nn.Sequential(nn.Conv2d(3, 16, 5, 4), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 11 * 11, 32)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(args.steps):
        left, right = next(batches)  # step
        likeness = F.normalize(net(left)) @ F.normalize(net(right)).T
        loss = F.cross_entropy(likeness / 0.2, torch.arange(2, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
