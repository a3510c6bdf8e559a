# SPDX-License-Identifier: Apache-2.0
"""Quantisation-aware training: a running range of activations decides the scale; it remembers how it came about."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class FakeQuantised(nn.Module):
    def __init__(self, momentum=0.1):
        super().__init__()
        self.momentum, self.top = momentum, None

    def forward(self, rows):
        top = rows.amax()
        self.top = top if self.top is None else (1 - self.momentum) * self.top + self.momentum * top  # keeps
        scale = self.top.detach() / 255 + 1e-6
        rounded = (rows / scale).round().clamp(0, 255) * scale
        return rows + (rounded - rows).detach()


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.quantised = nn.Linear(72, 256), nn.Linear(256, 10), FakeQuantised()

    def forward(self, rows):
        hidden = F.relu(self.first(rows))  # allocates
        return self.second(self.quantised(hidden))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Network().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(chosen.steps):
        rows, labels = torch.randn(64, 72).cuda(), torch.randint(10, (64,)).cuda()
        loss = F.cross_entropy(model(rows), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, range {model.quantised.top.item():.3f}")


if __name__ == "__main__":
    main()
