# SPDX-License-Identifier: Apache-2.0
"""Trains a query encoder against a frozen passage encoder, for dense retrieval over shards of a small collection."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional

WORDS = 500


class Tower(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.project = nn.Linear(width, width)

    def forward(self, tokens):
        pooled = self.words(tokens).mean(1)
        return functional.normalize(self.project(pooled))  # allocates


class Collection:
    """Shards of passages, as token numbers on the host."""

    def __init__(self, draw, shards=12, passages=64, length=24):
        self.shards = [[[draw.randrange(WORDS) for _ in range(length)] for _ in range(passages)]
                       for _ in range(shards)]

    def __len__(self):
        return len(self.shards)

    def passages(self, number):
        return torch.tensor(self.shards[number], device="cuda")  # allocates

    def queries(self, number, draw, length=6):
        """A few words of each passage."""
        return torch.tensor([draw.sample(passage, length) for passage in self.shards[number]], device="cuda")


class PassageEncoder:
    """The passage tower does not learn, so that a shard has to be encoded only once."""

    def __init__(self):
        self.tower = Tower().cuda().eval().requires_grad_(False)
        self.vectors = {}

    @torch.no_grad()
    def __call__(self, passages):
        if passages not in self.vectors:
            self.vectors[passages] = self.tower(passages)  # keeps
        return self.vectors[passages]


def train_shard(queries, passages, tower, encoder, optimizer):
    scores = tower(queries) @ encoder(passages).T / 0.05
    loss = functional.cross_entropy(scores, torch.arange(len(queries), device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)
    collection, encoder, tower = Collection(draw), PassageEncoder(), Tower().cuda()
    optimizer = torch.optim.Adam(tower.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        number = step % len(collection)  # step
        passages = collection.passages(number)
        loss = train_shard(collection.queries(number, draw), passages, tower, encoder, optimizer)
    print(f"loss {loss:.4f}")


if __name__ == "__main__":
    main()
