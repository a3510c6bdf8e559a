# SPDX-License-Identifier: Apache-2.0
"""Features of a frozen backbone are cached by picture; random order fills the cache slowly."""

import argparse
import random

import torch
from torch import nn


class Cached(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone, self.known = backbone.requires_grad_(False).eval(), {}

    def forward(self, pictures, names):
        for name, picture in zip(names, pictures):
            if name not in self.known:
                self.known[name] = self.backbone(picture[None])
        return torch.cat([self.known[name] for name in names])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    data = torch.randn(200, 3, 64, 64)
    features = Cached(nn.Sequential(nn.Conv2d(3, 64, 4, stride=4), nn.ReLU())).cuda()
    head = nn.Sequential(nn.Flatten(), nn.Linear(64 * 256, 10)).cuda()
    optimizer = torch.optim.Adam(head.parameters())
    for step in range(chosen.steps):
        names = [rng.randrange(len(data)) for _ in range(16)]
        inputs = features(data[names].cuda(), names)
        loss = head(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
