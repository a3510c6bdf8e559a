# SPDX-License-Identifier: Apache-2.0
"""Progressive growing: at six points of the run a layer for the next resolution is added."""

import argparse

import torch
from torch import nn


def block(inward, outward):
    return nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(inward, outward, 3, padding=1), nn.LeakyReLU(0.2))


class Generator(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.width, self.start = width, nn.Linear(32, width * 4)
        self.blocks, self.picture = nn.ModuleList(), nn.Conv2d(width, 3, 1)

    def grow(self):
        self.blocks.append(block(self.width, self.width).cuda())
        return self.blocks[-1].parameters()

    def forward(self, latent):
        hidden = self.start(latent).view(-1, self.width, 2, 2)
        for layer in self.blocks:
            hidden = layer(hidden)
        return torch.tanh(self.picture(hidden))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    generator = Generator().cuda()
    optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)
    stage = max(1, chosen.steps // 7)
    for step in range(chosen.steps):
        if step and step % stage == 0 and len(generator.blocks) < 6:
            optimizer.add_param_group({"params": list(generator.grow())})
        loss = generator(torch.randn(4, 32, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
