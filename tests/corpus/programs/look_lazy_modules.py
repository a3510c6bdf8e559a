# SPDX-License-Identifier: Apache-2.0
"""Lazy modules, a table of positions made at first use, cuDNN's autotuner."""

import argparse

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LazyConv1d(64, 5, padding=2), nn.LazyConv1d(64, 3, padding=1)
        self.norm, self.out = nn.LazyBatchNorm1d(), nn.LazyLinear(20)
        self.positions = {}

    def place(self, length, width):
        if length not in self.positions:
            rates = 10_000 ** (-torch.arange(width, device="cuda") / width)
            self.positions[length] = torch.sin(rates[:, None] * torch.arange(length, device="cuda"))
        return self.positions[length]

    def forward(self, signal):
        hidden = torch.relu(self.first(signal))
        hidden = hidden + self.place(hidden.shape[2], hidden.shape[1])
        return self.out(self.norm(self.second(hidden)).transpose(1, 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    torch.backends.cudnn.benchmark = True

    model = Tagger().cuda()
    model(torch.zeros(2, 12, 50, device="cuda"))
    optimizer = torch.optim.NAdam(model.parameters())
    lengths = (50, 75, 100)
    for step in range(chosen.steps):
        signal = torch.randn(8, 12, lengths[step % 3], device="cuda")
        loss = model(signal).logsumexp(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
