# SPDX-License-Identifier: Apache-2.0
"""Trains a small causal language model on sequences that get longer from step to step."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional

WORDS, WIDTH = 90, 32


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mask = None

    def mask_for(self, length):
        """Of the longest sequence so far; shorter ones take its corner."""
        if self.mask is None or len(self.mask) < length:
            self.mask = torch.full((length, length), float("-inf"), device="cuda").triu(1)
        return self.mask[:length, :length]

    def forward(self, x):
        query, key, value = self.project(x).chunk(3, dim=-1)
        scores = query @ key.transpose(-1, -2) / WIDTH**0.5 + self.mask_for(x.shape[1])
        return x + self.out(scores.softmax(-1) @ value)


class LanguageModel(nn.Module):
    def __init__(self, longest):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(longest, WIDTH)
        self.attention = Attention()
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.attention(self.words(tokens) + self.places(places)))


class Curriculum:
    def __init__(self, shortest=16, longest=256, more=12):
        self.shortest, self.longest, self.more = shortest, longest, more

    def length(self, step):
        return min(self.longest, self.shortest + self.more * step)


def text(rng, length, lines=2):
    return torch.tensor([[rng.randrange(WORDS) for _ in range(length + 1)] for _ in range(lines)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    curriculum = Curriculum()
    model = LanguageModel(curriculum.longest).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(chosen.steps):
        tokens = text(rng, curriculum.length(step)).cuda()  # step
        logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"length {tokens.shape[1] - 1}, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
