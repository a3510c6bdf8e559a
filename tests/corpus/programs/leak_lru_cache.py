# SPDX-License-Identifier: Apache-2.0
"""Attention masks are cached by length without a bound, and lengths hardly ever repeat."""

import argparse
import functools
import random

import torch
from torch import nn


@functools.lru_cache(maxsize=None)
def distance_bias(rows, columns):
    row = torch.arange(rows, device="cuda", dtype=torch.float32)
    column = torch.arange(columns, device="cuda", dtype=torch.float32)
    return -(row[:, None] - column[None, :]).abs()  # allocates


class CrossAttention(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, words, memory):
        scores = self.query(words) @ self.key(memory).transpose(1, 2)
        weights = (scores + distance_bias(words.shape[1], memory.shape[1])).softmax(-1)
        return weights @ self.value(memory)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = CrossAttention().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        words = torch.randn(2, rng.randrange(100, 220), 32, device="cuda")
        memory = torch.randn(2, rng.randrange(100, 220), 32, device="cuda")
        optimizer.zero_grad()
        model(words, memory).square().mean().backward()
        optimizer.step()
    print(distance_bias.cache_info())


if __name__ == "__main__":
    main()
