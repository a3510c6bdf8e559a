# SPDX-License-Identifier: Apache-2.0
"""A curriculum for a language model: shelves of longer and longer sentences are opened one after the other."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional

WORDS = 96


class Shelf:
    def __init__(self, length, sentences=160):
        self.length = length
        self.sentences = torch.randint(WORDS, (sentences, length), device="cuda")

    def batch(self, draw, size=8):
        first = draw.randrange(len(self.sentences) - size)
        return self.sentences[first:first + size]


class Curriculum:
    def __init__(self, lengths, draw):
        self.lengths = list(lengths)
        self.draw = draw
        self.shelves = []

    def advance(self):
        """Opens the next shelf if there is one."""
        number = len(self.shelves)
        if number < len(self.lengths):
            self.shelves.append(Shelf(self.lengths[number]))

    def batches(self, count):
        # The newest shelves are drawn from more often.
        weights = range(1, len(self.shelves) + 1)
        for shelf in self.draw.choices(self.shelves, weights, k=count):
            yield shelf.batch(self.draw)


class Model(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.mix = nn.Linear(width, width)
        self.out = nn.Linear(width, WORDS)

    def forward(self, tokens):
        return self.out(functional.gelu(self.mix(self.words(tokens).cumsum(1))))


def train(model, optimizer, batches):
    for tokens in batches:
        scores = model(tokens[:, :-1])
        loss = functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    curriculum = Curriculum(range(20, 108, 4), random.Random(chosen.seed))
    for _ in range(chosen.steps):
        curriculum.advance()  # step
        loss = train(model, optimizer, curriculum.batches(3))
    print(f"loss {loss:.4f} with sentences of up to {curriculum.shelves[-1].length} words")


if __name__ == "__main__":
    main()
