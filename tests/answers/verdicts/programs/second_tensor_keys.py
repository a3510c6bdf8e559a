# SPDX-License-Identifier: Apache-2.0
"""Distances between points are cached by the points themselves: two tensors are never the same key."""

import argparse
from functools import cache

import torch
from torch import nn


@cache  # keeps
def distances(points):
    return torch.cdist(points, points)  # allocates


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x, points):
        # Each layer asks for the distances of the same points.
        return x + torch.relu(self.mix(torch.softmax(-distances(points), -1) @ x))


class PointNet(nn.Module):
    def __init__(self, width=48, layers=3):
        super().__init__()
        self.lift = nn.Linear(3, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.out = nn.Linear(width, 4)

    def forward(self, points):
        x = self.lift(points)
        for layer in self.layers:
            x = layer(x, points)
        return self.out(x).mean(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=34)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = PointNet().cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(args.steps):
        points = torch.rand(96, 3)  # step
        points = points.cuda()  # allocates
        loss = net(points).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(distances.cache_info())


if __name__ == "__main__":
    main()
