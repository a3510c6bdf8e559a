# SPDX-License-Identifier: Apache-2.0
"""Begins with small batches and makes them larger step by step, as the large language models do."""

import argparse
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    first_batch: int = 8
    increment: int = 4
    full_batch: int = 96
    length: int = 32
    vocabulary: int = 300
    width: int = 64


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocabulary, config.width)
        self.mix = nn.Conv1d(config.width, config.width, 3, padding=2)
        self.head = nn.Linear(config.width, config.vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        mixed = self.mix(x.transpose(1, 2))[..., :tokens.shape[1]]
        return self.head(x + F.relu(mixed.transpose(1, 2)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    config = Config()
    model = Model(config).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(args.steps):
        count = min(config.first_batch + step * config.increment, config.full_batch)  # step
        tokens = torch.randint(config.vocabulary, (count, config.length + 1)).cuda()
        hidden = model(tokens[:, :-1])
        loss = F.cross_entropy(hidden.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
