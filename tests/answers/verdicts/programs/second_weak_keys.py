# SPDX-License-Identifier: Apache-2.0
"""Features are remembered for as long as their scene is there: but what is remembered knows its scene."""

import argparse
from weakref import WeakKeyDictionary

import torch
from torch import nn


class Scene:
    def __init__(self, number, points=64):
        self.number, self.points = number, torch.randn(points, 3)


class Features:
    def __init__(self, scene, values):
        self.scene, self.values = scene, values

    def centre(self):
        return self.values.mean(0)


class Encoder(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, width), nn.ReLU())
        self.cached = WeakKeyDictionary()

    def forward(self, scene):
        if scene not in self.cached:
            values = self.layers(scene.points.cuda())  # allocates
            self.cached[scene] = Features(scene, values)  # keeps
        return self.cached[scene]


def train(encoder, steps):
    optimizer = torch.optim.Adam(encoder.parameters())
    for number in range(steps):
        scene = Scene(number)  # step
        # Asked for twice: the second time it is there already.
        spread = (encoder(scene).values - encoder(scene).centre()).square().mean()
        optimizer.zero_grad()
        (spread - 1).square().backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train(Encoder().cuda(), args.steps)


if __name__ == "__main__":
    main()
