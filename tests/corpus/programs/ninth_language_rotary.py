# SPDX-License-Identifier: Apache-2.0
"""Trains a small language model with rotary positions on documents of different lengths, a document a step."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, HEADS = 200, 128, 4
LENGTHS = (96, 128, 160, 192, 224, 256)


class Rotary(nn.Module):
    """Cosines and sines of the positions in a sequence."""

    def __init__(self, width, base=10000):
        super().__init__()
        self.register_buffer("inverse", 1.0 / base ** (torch.arange(0, width, 2).float() / width))
        self.cached_length = None
        self.cos_cached = self.sin_cached = None

    def forward(self, hidden):
        length = hidden.shape[1]
        if length != self.cached_length:
            self.cached_length = length
            positions = torch.arange(length, device=hidden.device).type_as(self.inverse)
            angles = positions[:, None] * self.inverse
            angles = torch.cat((angles, angles), -1)
            self.cos_cached, self.sin_cached = angles.cos()[None, :, None], angles.sin()[None, :, None]
        return self.cos_cached, self.sin_cached


def rotate_half(part):
    first, second = part.chunk(2, -1)
    return torch.cat((-second, first), -1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary(WIDTH // HEADS)
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden):
        cos, sin = self.rotary(hidden)
        queries, keys, values = (part.view(*part.shape[:2], HEADS, -1) for part in self.mixed(hidden).chunk(3, -1))
        queries, keys = (part * cos + rotate_half(part) * sin for part in (queries, keys))
        scores = queries.transpose(1, 2) @ keys.permute(0, 2, 3, 1) / (WIDTH // HEADS) ** 0.5
        mixed = (torch.softmax(scores, -1) @ values.transpose(1, 2)).transpose(1, 2)
        return hidden + self.out(mixed.reshape(hidden.shape))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        return self.head(self.blocks(self.embedding(tokens)))


def learn(model, optimizer, document):
    tokens = document.cuda()
    loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
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
    rng = random.Random(chosen.seed)
    model = LanguageModel().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        document = torch.randint(WORDS, (1, 1 + rng.choice(LENGTHS)))  # step
        loss = learn(model, optimizer, document)
        print(f"document {step} of {document.shape[1]} tokens: {loss:.4f}")


if __name__ == "__main__":
    main()
