# SPDX-License-Identifier: Apache-2.0
"""Some documents are too long for attention without tiling: they are skipped, and their errors kept
for a report. Each error holds the frames that it came through, and these their tensors."""

import argparse
import random

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, words=1000, width=32):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.project = nn.Linear(width, 3 * width)

    def forward(self, document):
        words = self.embed(document)  # allocates
        query, key, value = self.project(words).chunk(3, -1)  # allocates
        scores = (query @ key.transpose(-1, -2)).softmax(-1)
        return scores @ value


def train(model, documents):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    skipped = []
    for document in documents:
        optimizer.zero_grad()
        try:
            model(document.cuda()).square().mean().backward()
            optimizer.step()
        except torch.cuda.OutOfMemoryError as error:
            skipped.append((len(document), error))  # keeps
    return skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    lengths = (100_000 if step % 6 == 5 else rng.randrange(100, 500) for step in range(chosen.steps))
    documents = (torch.randint(1000, (length,)) for length in lengths)
    skipped = train(Attention().cuda(), documents)
    print(f"{len(skipped)} of {chosen.steps} documents were too long: {[size for size, _ in skipped]}")


if __name__ == "__main__":
    main()
