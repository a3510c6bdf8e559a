# SPDX-License-Identifier: Apache-2.0
"""Keeps the last twelve embeddings to compare new ones with, as a queue with a maximum length."""

import argparse
from collections import deque

import torch
from torch import nn


class Comparer(nn.Module):
    def __init__(self, remember=12):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(300, 512), nn.ReLU(), nn.Linear(512, 128))
        self.recent = deque(maxlen=remember)

    def forward(self, features):
        embedded = self.encode(features)
        others = torch.stack(list(self.recent)) if self.recent else embedded.detach()[None]
        self.recent.append(embedded.detach())
        return (embedded * others).sum(-1).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Comparer().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(chosen.steps):
        loss = model(torch.randn(256, 300, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
