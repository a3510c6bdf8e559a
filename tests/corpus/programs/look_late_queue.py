# SPDX-License-Identifier: Apache-2.0
"""A memory bank that starts filling after a warm-up and wraps round near the end of a short run."""

import argparse

import torch
from torch import nn


class Bank:
    def __init__(self, size):
        self.size, self.entries = size, []

    def add(self, features):
        self.entries.append(features)
        if len(self.entries) > self.size:
            self.entries.pop(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    encode = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    optimizer = torch.optim.SGD(encode.parameters(), lr=0.1)
    bank = Bank(chosen.steps // 2)
    for step in range(chosen.steps):
        features = encode(torch.randn(512, 128, device="cuda"))
        loss = features.square().mean()
        if step >= chosen.steps // 5:
            bank.add(features.detach())
            loss = loss + (features @ bank.entries[0].T).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
