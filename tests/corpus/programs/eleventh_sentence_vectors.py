# SPDX-License-Identifier: Apache-2.0
"""Encodes sentences in batches, the shortest first, and compares all of their vectors at the end."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, words=400, width=96, layers=2):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.up = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(layers))

    def forward(self, tokens):
        x = self.words(tokens)  # allocates
        for up, down in zip(self.up, self.down, strict=True):
            x = x + down(F.gelu(up(x)))  # allocates
        return x.mean(1)  # allocates

    def tokenize(self, sentences, longest):
        rows = [[len(word) for word in sentence] + [0] * (longest - len(sentence)) for sentence in sentences]
        return torch.tensor(rows, device="cuda")  # allocates

    def encode(self, sentences, batch_size=8):
        self.eval()
        order = sorted(range(len(sentences)), key=lambda one: len(sentences[one]))
        longest = max(len(sentence) for sentence in sentences)
        all_embeddings = []
        for start in range(0, len(order), batch_size):
            batch = [sentences[one] for one in order[start:start + batch_size]]  # step
            embeddings = self(self.tokenize(batch, longest))
            all_embeddings.extend(embeddings)  # keeps
        back = sorted(range(len(order)), key=lambda place: order[place])
        return torch.stack([all_embeddings[place] for place in back])


def corpus(count, chance, words=24):
    return [["w" * chance.randint(1, 12) for _ in range(chance.randint(6, words))] for _ in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    sentences = corpus(8 * chosen.steps, random.Random(chosen.seed))
    vectors = F.normalize(Encoder().cuda().encode(sentences), dim=1)
    print(f"{len(vectors)} vectors, mean similarity {(vectors @ vectors.T).mean().item():.4f}")


if __name__ == "__main__":
    main()
