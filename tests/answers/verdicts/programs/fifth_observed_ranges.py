# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training: observers follow the range of what each layer puts out."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Observer(nn.Module):
    def __init__(self, bits=8):
        super().__init__()
        self.levels = 2 ** bits - 1
        self.samples = []
        self.register_buffer("low", torch.zeros(()))
        self.register_buffer("high", torch.ones(()))

    def forward(self, x):
        if self.training:
            self.samples.append(x.detach())  # keeps
            latest = self.samples[-1]
            self.low = torch.minimum(self.low, latest.min())
            self.high = torch.maximum(self.high, latest.max())
        scale = (self.high - self.low) / self.levels
        rounded = torch.round((x - self.low) / scale) * scale + self.low
        return x + (rounded - x).detach()


class Quantized(nn.Module):
    def __init__(self, inputs=128, width=256, classes=10):
        super().__init__()
        self.one, self.two = nn.Linear(inputs, width), nn.Linear(width, width)
        self.after_one, self.after_two = Observer(), Observer()
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        first = F.relu(self.one(x))  # allocates
        second = F.relu(self.two(self.after_one(first)))  # allocates
        return self.head(self.after_two(second))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Quantized().cuda().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(args.steps):
        x, y = torch.randn(64, 128).cuda(), torch.randint(10, (64,)).cuda()  # step
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
