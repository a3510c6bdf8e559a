# SPDX-License-Identifier: Apache-2.0
"""Vectors of words are made when a word is first met; new words get rarer, as in any text."""

import argparse
import random

import torch
from torch import nn


class Vectors:
    def __init__(self, width):
        self.width, self.table = width, {}

    def __call__(self, words):
        for word in words:
            if word not in self.table:
                self.table[word] = torch.randn(self.width, device="cuda")
        return torch.stack([self.table[word] for word in words])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    words = 2000
    weights = [1 / (rank + 1) for rank in range(words)]
    vectors = Vectors(512)
    model = nn.GRU(512, 128, batch_first=True).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(chosen.steps):
        sentence = rng.choices(range(words), weights, k=40)
        hidden, _ = model(vectors(sentence)[None])
        loss = hidden.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
