# SPDX-License-Identifier: Apache-2.0
"""Trains an encoder on utterances of different lengths, with a table of sinusoidal positions."""

import argparse
import math
import random

import torch
from torch import nn

WIDTH, UTTERANCES = 64, 40


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout_rate, max_len):
        super().__init__()
        self.d_model = d_model
        self.dropout = nn.Dropout(dropout_rate)
        self.pe = None
        self.extend_pe(torch.zeros(1, max_len, device="cuda"))

    def extend_pe(self, x):
        if self.pe is not None and self.pe.size(1) >= x.size(1):
            return
        position = torch.arange(x.size(1), device=x.device)[:, None].float()
        rates = torch.exp(torch.arange(0, self.d_model, 2, device=x.device) * (-math.log(10000.0) / self.d_model))
        pe = torch.zeros(x.size(1), self.d_model, device=x.device)
        pe[:, 0::2] = torch.sin(position * rates)
        pe[:, 1::2] = torch.cos(position * rates)
        self.pe = pe[None]

    def forward(self, x):
        self.extend_pe(x)
        return self.dropout(x * math.sqrt(self.d_model) + self.pe[:, :x.size(1)])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = nn.Linear(20, WIDTH)
        self.positions = PositionalEncoding(WIDTH, 0.1, max_len=64)
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 12))

    def forward(self, frames):
        return self.body(self.positions(self.inputs(frames)))


def train_one(encoder, optimizer, frames, labels):
    optimizer.zero_grad()
    scores = encoder(frames.to("cuda")).flatten(0, 1)
    loss = nn.functional.cross_entropy(scores, labels.to("cuda"))
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = random.Random(chosen.seed)
    lengths = [chance.randint(50, 400) for _ in range(UTTERANCES)]
    encoder = Encoder().cuda()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    order = []
    for _ in range(chosen.steps):
        order = order or chance.sample(range(UTTERANCES), UTTERANCES)  # step
        length = lengths[order.pop()]
        loss = train_one(encoder, optimizer, torch.randn(1, length, 20), torch.randint(12, (length,)))
    print(f"last loss {loss:.3f}, table for {encoder.positions.pe.size(1)} frames")


if __name__ == "__main__":
    main()
