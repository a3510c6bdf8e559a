# SPDX-License-Identifier: Apache-2.0
"""Turns a list of sentences into embeddings, batch by batch, and looks for the one nearest to a query."""

import argparse
import random

import torch
from torch import nn

WORDS, WIDTH, LENGTH = 300, 64, 20


class SentenceModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.dense = nn.Linear(WIDTH, WIDTH)

    def forward(self, ids):
        x = self.words(ids)  # allocates
        query, key, value = self.query(x), self.key(x), self.value(x)  # allocates
        weights = torch.softmax(query @ key.transpose(1, 2) / WIDTH ** 0.5, dim=-1)  # allocates
        mixed = x + weights @ value  # allocates
        return torch.tanh(self.dense(mixed[:, 0]))  # allocates


def tokenize(sentences):
    return [[hash_of(word) for word in sentence.split()] for sentence in sentences]


def hash_of(word):
    return sum(map(ord, word)) % WORDS


def write_sentences(rng, number):
    return [" ".join(f"w{rng.randrange(900)}" for _ in range(LENGTH)) for _ in range(number)]


def embed(model, sentences, batch_size):
    embeddings = []
    for start in range(0, len(sentences), batch_size):
        batch = tokenize(sentences[start:start + batch_size])  # step
        ids = torch.tensor(batch, device="cuda")  # allocates
        embeddings_batch = model(ids)
        embeddings.append(embeddings_batch)  # keeps
    return torch.cat(embeddings)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    model = SentenceModel().cuda()
    model.eval()
    sentences = write_sentences(rng, chosen.steps * chosen.batch_size)
    embeddings = embed(model, sentences, chosen.batch_size)
    scores = torch.cosine_similarity(embeddings[:1], embeddings[1:])
    print(f"{len(embeddings)} sentences, best score {scores.max().item():.4f}")


if __name__ == "__main__":
    main()
