# SPDX-License-Identifier: Apache-2.0
"""Answers questions from a collection of documents: the index is built first, questions come after."""

import argparse
from pathlib import PurePath

import torch
from torch import nn


class Collection:
    def __init__(self, documents, per_chunk):
        self.paths = [PurePath("documents", f"{number:04d}.txt") for number in range(documents)]
        self.per_chunk = per_chunk

    def chunks(self):
        for at in range(0, len(self.paths), self.per_chunk):
            names = self.paths[at:at + self.per_chunk]
            yield names, torch.randint(800, (len(names), 48))


class Encoder(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.words = nn.EmbeddingBag(800, width)
        self.project = nn.Linear(width, width)

    def forward(self, words):
        return nn.functional.normalize(self.project(self.words(words)), dim=1)


class Index:
    def __init__(self, encoder):
        self.encoder = encoder
        self.vectors, self.names = [], []

    def add(self, names, words):
        self.vectors.append(self.encoder(words.cuda()))
        self.names += names

    def ask(self, words, count=3):
        question = self.encoder(words.cuda())
        best = [(question @ vectors.T).amax(1) for vectors in self.vectors]
        return torch.stack(best, 1).topk(count).indices.cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=49)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    index = Index(Encoder().cuda().eval())
    unread = Collection(documents=1984, per_chunk=32).chunks()
    with torch.inference_mode():
        for step in range(args.steps):
            chunk = next(unread, None)  # step
            if chunk is not None:
                index.add(*chunk)
            else:
                print(step, index.ask(torch.randint(800, (2, 12))).shape)


if __name__ == "__main__":
    main()
