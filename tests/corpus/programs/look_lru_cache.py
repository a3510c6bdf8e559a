# SPDX-License-Identifier: Apache-2.0
"""Attention masks by length are made once and cached, the sixteen used last."""

import argparse
import functools
import random

import torch
from torch import nn


@functools.lru_cache(maxsize=16)
def causal_mask(length):
    return torch.full((length, length), float("-inf"), device="cuda").triu(1)


class Reader(nn.Module):
    def __init__(self, words=1000, width=64):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 128, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, tokens):
        mask = causal_mask(tokens.shape[1])
        return self.out(self.layer(self.embed(tokens), src_mask=mask))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    lengths = random.Random(chosen.seed)

    model = Reader().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(chosen.steps):
        tokens = torch.randint(1000, (4, lengths.randrange(64, 257)), device="cuda")
        scores = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
