# SPDX-License-Identifier: Apache-2.0
"""Progressive resizing: pictures start at 24 pixels and end at 82; the network stays the same."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Network(nn.Module):
    def __init__(self, channels=12, classes=8):
        super().__init__()
        self.convolve = nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), nn.ReLU(),
                                      nn.Conv2d(channels, channels, 3, stride=2, padding=1), nn.ReLU())
        self.classify = nn.Linear(channels, classes)

    def forward(self, pictures):
        self.maps = self.convolve(pictures)
        return self.classify(self.maps.mean((2, 3)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Network().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        side = 24 + 2 * step
        pictures, labels = torch.randn(16, 3, side, side).cuda(), torch.randint(8, (16,)).cuda()
        logits = model(pictures)
        loss = F.cross_entropy(logits, labels) + 1e-4 * model.maps.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, maps {tuple(model.maps.shape)}")


if __name__ == "__main__":
    main()
