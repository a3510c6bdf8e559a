# SPDX-License-Identifier: Apache-2.0
"""Anomaly detection: each batch's features join a memory bank, and every batch is compared with all."""

import argparse

import torch
from torch import nn


class MemoryBank(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, 32, 4, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 64, width))
        self.bank = None

    def forward(self, pictures):
        features = nn.functional.normalize(self.encode(pictures), dim=1)
        kept = features.detach()
        self.bank = kept if self.bank is None else torch.cat([self.bank, kept])  # allocates
        alike = (features @ self.bank.T / 0.1).softmax(1)
        return -(alike * alike.clamp_min(1e-6).log()).sum(1).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = MemoryBank().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(chosen.steps):
        pictures = torch.rand(128, 3, 32, 32).cuda()
        loss = model(pictures)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(tuple(model.bank.shape))


if __name__ == "__main__":
    main()
