# SPDX-License-Identifier: Apache-2.0
"""Contrastive learning with a memory of all earlier keys, in one tensor that grows by each batch."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Contrast(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, width))
        self.memory = None

    def remember(self, keys):
        keys = keys.detach()
        self.memory = keys if self.memory is None else torch.cat([self.memory, keys])  # allocates

    def forward(self, one, other):
        queries, keys = F.normalize(self.encoder(one), dim=1), F.normalize(self.encoder(other), dim=1)
        near = (queries * keys).sum(1)
        self.remember(keys)
        far = queries @ self.memory[:256].t()
        return (far.logsumexp(1) - near).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Contrast().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(chosen.steps):
        rows = torch.randn(32, 128, device="cuda")
        optimizer.zero_grad()
        model(rows, rows + 0.1 * torch.randn_like(rows)).backward()
        optimizer.step()
    print(tuple(model.memory.shape))


if __name__ == "__main__":
    main()
