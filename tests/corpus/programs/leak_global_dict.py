# SPDX-License-Identifier: Apache-2.0
"""Attention maps go to a global dictionary, by step, for a figure."""

import argparse

import torch
from torch import nn

ATTENTION = {}


class SelfAttention(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, words, step):
        scores = self.query(words) @ self.key(words).transpose(1, 2)
        weights = scores.softmax(-1)  # allocates
        ATTENTION[step] = weights.detach()  # keeps
        return weights @ self.value(words)


def train(model, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        words = torch.randn(8, 24, 32, device="cuda")
        optimizer.zero_grad()
        (model(words, step) - words).square().mean().backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    train(SelfAttention().cuda(), chosen.steps)
    print(len(ATTENTION), "maps of attention")


if __name__ == "__main__":
    main()
