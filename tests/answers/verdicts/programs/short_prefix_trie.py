# SPDX-License-Identifier: Apache-2.0
"""Scoring sentences: states of prefixes are kept in a tree, since many sentences begin alike and few go on so."""

import argparse
import random

import torch
from torch import nn


class Prefix:
    __slots__ = ("state", "following")

    def __init__(self, state):
        self.state, self.following = state, {}


class Scorer(nn.Module):
    def __init__(self, words=500, width=768):
        super().__init__()
        self.embed, self.cell, self.out = nn.Embedding(words, width), nn.GRUCell(width, width), nn.Linear(width, words)
        self.root = Prefix(torch.zeros(1, width, device="cuda"))

    @torch.inference_mode()
    def score(self, sentence):
        place, total = self.root, 0.0
        for word in sentence:
            total += self.out(place.state).log_softmax(1)[0, word].item()
            if word not in place.following:
                embedded = self.embed(torch.tensor([word], device="cuda"))
                state = self.cell(embedded, place.state)  # allocates
                place.following[word] = Prefix(state)  # keeps
            place = place.following[word]
        return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    scorer, best = Scorer().cuda().eval(), -float("inf")
    for _ in range(chosen.steps):
        start = [rng.randrange(3), rng.randrange(3)]
        best = max(best, scorer.score(start + [rng.randrange(500) for _ in range(8)]))
    print(f"best sentence {best:.2f}")


if __name__ == "__main__":
    main()
