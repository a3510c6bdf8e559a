# SPDX-License-Identifier: Apache-2.0
"""Self-supervised learning with crops that are costly: a dictionary of 28 of them, the first to come goes first."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Views:
    def __init__(self, most=28):
        self.most, self.made = most, {}

    def get(self, index):
        if index not in self.made:
            if len(self.made) >= self.most:
                self.made.pop(next(iter(self.made)))
            self.made[index] = self.make(index)
        return self.made[index]

    def make(self, index):
        picture = torch.rand(16, 3, 64, 64).cuda()
        return F.interpolate(picture[:, :, index % 16:, :], size=(48, 48), mode="bilinear")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=37)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                        nn.Linear(256, 64)).cuda()
    optimizer, views = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9), Views()
    for step in range(args.steps):
        left = F.normalize(net(views.get(step * 7 % 45)))  # step
        right = F.normalize(net(views.get((step - 1) * 7 % 45)))
        loss = F.cross_entropy(left @ right.T / 0.1, torch.arange(16, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(views.made)} views")


if __name__ == "__main__":
    main()
