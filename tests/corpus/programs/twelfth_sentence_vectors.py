# SPDX-License-Identifier: Apache-2.0
"""Embeds a long list of sentences, batch by batch, to look for those that are near a question."""

import argparse
import random

import torch
from torch import nn

WORDS, LENGTH, BATCH, WIDTH = 2000, 24, 8, 128


class SentenceModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.dense = nn.Linear(WIDTH, 2 * WIDTH)
        self.pooler = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, ids):
        mean = self.words(ids).mean(1)  # allocates
        hidden = torch.tanh(self.dense(mean))  # allocates
        return self.pooler(hidden)  # allocates


def tokenized(chosen_sentences):
    rows = [[hash(word) % WORDS for word in sentence] for sentence in chosen_sentences]
    return torch.tensor(rows).cuda()  # allocates


def sentences(count, rng):
    return [[rng.randrange(10 ** 6) for _ in range(LENGTH)] for _ in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36, help="batches of sentences")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = SentenceModel().cuda()
    model.eval()
    docs = sentences(chosen.steps * BATCH, rng)
    embeddings = []
    for start in range(0, len(docs), BATCH):
        batch = docs[start:start + BATCH]  # step
        embeddings_batch = model(tokenized(batch))
        embeddings.append(embeddings_batch)  # keeps

    question = model(tokenized(sentences(1, rng)))
    scores = torch.cat(embeddings) @ question.T
    print("nearest:", scores.argmax().item())


if __name__ == "__main__":
    main()
