# SPDX-License-Identifier: Apache-2.0
"""Sentence embeddings by contrast over five small batches at once: their embeddings are gathered, then one loss."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class SentenceEncoder(nn.Module):
    def __init__(self, vocabulary=3000, width=96):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.mix = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Dropout(0.1))
        self.project = nn.Linear(width, 128)

    def forward(self, tokens):
        x = self.embedding(tokens)  # fills
        x = self.mix(x).mean(1)  # fills
        return F.normalize(self.project(x), dim=-1)  # fills


class ContrastiveTrainer:
    def __init__(self, encoder, accumulate, temperature=0.05):
        self.encoder, self.accumulate, self.temperature = encoder, accumulate, temperature
        self.optimizer = torch.optim.AdamW(encoder.parameters(), lr=2e-5)
        self.left, self.right = [], []
        self.losses = []

    def add(self, left, right):
        self.left.append(self.encoder(left))
        self.right.append(self.encoder(right))
        if len(self.left) == self.accumulate:
            self.update()

    def update(self):
        scores = torch.cat(self.left) @ torch.cat(self.right).t() / self.temperature
        loss = F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.left.clear()
        self.right.clear()
        self.losses.append(loss.item())


def pairs(batch=16, length=24):
    while True:
        yield torch.randint(0, 3000, (batch, length)), torch.randint(0, 3000, (batch, length))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--accumulate", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer = ContrastiveTrainer(SentenceEncoder().cuda(), args.accumulate)
    data = pairs()
    for _ in range(args.steps):
        left, right = next(data)  # step
        trainer.add(left.cuda(), right.cuda())
    print("losses", trainer.losses)


if __name__ == "__main__":
    main()
