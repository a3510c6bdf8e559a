# SPDX-License-Identifier: Apache-2.0
"""Trains a small model of protein sequences, whose batches come sorted by length within an epoch."""

import argparse
import random

import torch
from torch import nn

AMINO_ACIDS, BATCH = 25, 16


class ProteinModel(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embedding = nn.Embedding(AMINO_ACIDS, width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.head = nn.Linear(width, AMINO_ACIDS)

    def forward(self, tokens):
        hidden = self.embedding(tokens)
        query, key, value = self.qkv(hidden).chunk(3, dim=-1)
        weights = (query @ key.transpose(1, 2) / query.shape[-1] ** 0.5).softmax(-1)
        return self.head(hidden + self.out(weights @ value))


class SortedBatches:
    """Batches of sequences of like length, the shortest first."""

    def __init__(self, seed, sequences=416, shortest=16, longest=120):
        draw = random.Random(seed)
        lengths = sorted(draw.randint(shortest, longest) for _ in range(sequences))
        self.lengths = [lengths[start:start + BATCH] for start in range(0, sequences, BATCH)]

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        lengths = self.lengths[index]
        tokens = torch.zeros(BATCH, max(lengths), dtype=torch.long)
        for row, length in enumerate(lengths):
            tokens[row, :length] = torch.randint(1, AMINO_ACIDS, (length,))
        return tokens.cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model, batches = ProteinModel().cuda(), SortedBatches(chosen.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        tokens = batches[step % len(batches)]  # step
        optimizer.zero_grad()
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
        loss.backward()
        optimizer.step()
        print(f"step {step}: length {tokens.shape[1]}, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
