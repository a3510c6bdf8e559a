# SPDX-License-Identifier: Apache-2.0
"""Trains a model that ranks documents for a query; words are encoded with their places, from a table of sines."""

import argparse
import math
import random

import torch
from torch import nn

WORDS, WIDTH, LONGEST, BATCH = 1000, 192, 96, 2


class PositionalEncoding(nn.Module):
    def __init__(self):
        super().__init__()
        self.pe = None

    def set_pe(self, length, width, device):
        position = torch.arange(length, device=device).view(1, -1, 1)
        frequency = torch.exp(torch.arange(0, width, 2, device=device) * -math.log(10000.0) / width).view(1, 1, -1)
        self.pe = torch.zeros(1, length, width, device=device)
        self.pe[:, :, 0::2] = torch.sin(position * frequency)
        self.pe[:, :, 1::2] = torch.cos(position * frequency)

    def forward(self, x):
        _, length, width = x.size()
        if self.pe is None or length > self.pe.size(1) or width != self.pe.size(2) or self.pe.device != x.device:
            self.set_pe(length, width, x.device)
        return x + self.pe[:, :length, :]


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), PositionalEncoding()
        self.mix = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU())
        self.relevance = nn.Linear(WIDTH, 1)

    def forward(self, ids):
        return self.relevance(self.mix(self.places(self.words(ids))).mean(1))


def train_step(model, optimizer, lengths):
    ids = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.randint(1, WORDS, (length,))
    optimizer.zero_grad()
    loss = (model(ids.cuda()) - 0.5).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30, help="batches")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    model = Ranker().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for _ in range(chosen.steps):
        lengths = [min(LONGEST, int(rng.lognormvariate(3.6, 0.4))) for _ in range(BATCH)]  # step
        loss = train_step(model, optimizer, lengths)
    print(f"loss {loss:.3f}")


if __name__ == "__main__":
    main()
