# SPDX-License-Identifier: Apache-2.0
"""Trains a dense retriever with hard negatives from an index, which is encoded anew piece by piece beside training."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary=2000, width=128):
        super().__init__()
        self.words = nn.EmbeddingBag(vocabulary, width)
        self.project = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))

    def forward(self, documents):
        return F.normalize(self.project(self.words(documents)), dim=1)


class RefreshedIndex:
    """The vectors of a corpus; every call of refresh() encodes one more chunk, the last one puts them into use."""

    def __init__(self, corpus, chunk):
        self.chunks = corpus.split(chunk)
        self.vectors = None
        self.fresh = []

    @torch.no_grad()
    def refresh(self, encoder):
        chunk = self.chunks[len(self.fresh)].cuda()
        self.fresh.append(encoder(chunk))  # fills
        if len(self.fresh) == len(self.chunks):
            self.vectors = torch.cat(self.fresh)  # fills
            self.fresh = []

    @torch.no_grad()
    def hardest(self, queries, count):
        if self.vectors is None:
            return None
        return self.vectors[(queries @ self.vectors.t()).topk(count, dim=1).indices]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    corpus = torch.randint(0, 2000, (1536, 40))
    index = RefreshedIndex(corpus, chunk=128)
    encoder = Encoder().cuda()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    for step in range(args.steps):
        picked = torch.randint(0, len(corpus), (32,))  # step
        queries = encoder(corpus[picked, :10].cuda())
        documents = encoder(corpus[picked].cuda())
        logits = queries @ documents.t()
        hard = index.hardest(queries, 4)
        if hard is not None:
            logits = torch.cat([logits, torch.einsum("qd,qnd->qn", queries, hard)], dim=1)
        loss = F.cross_entropy(logits / 0.05, torch.arange(32, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        index.refresh(encoder)
    print("loss", loss.item())


if __name__ == "__main__":
    main()
