# SPDX-License-Identifier: Apache-2.0
"""Trains a network that enlarges pictures, in 32 bits, one picture a step."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Enlarger(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, width, 5, padding=2), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, picture):
        return self.layers(picture)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = Enlarger().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(6):
        large = torch.randn(1, 3, 2048, 2048).cuda()
        small = F.avg_pool2d(large, 2)
        with torch.autocast("cuda", torch.bfloat16, enabled=chosen.change == "mixed_precision"):
            loss = F.l1_loss(model(small), large)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
