# SPDX-License-Identifier: Apache-2.0
"""A length curriculum: each batch is a little longer than any before. Blocks of the last length are too
small for the next, so that the allocator reserves new segments while as little as ever is in use."""

import argparse

import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, words):
        words = torch.relu(self.first(words))  # allocates
        return words + torch.relu(self.second(words))  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Mixer().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        length = 8192 + 16 * step
        words = torch.randn(16, length, 256, device="cuda")  # allocates
        optimizer.zero_grad()
        loss = model(words).square().mean()  # allocates
        loss.backward()  # allocates
        optimizer.step()
        del words, loss


if __name__ == "__main__":
    main()
