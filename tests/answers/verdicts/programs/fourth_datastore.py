# SPDX-License-Identifier: Apache-2.0
"""Vectors of a corpus of twenty-eight batches are stored; from then on questions look them up."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Corpus:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        for number in range(self.batches):
            yield torch.randint(0, 1000, (32, 64), generator=torch.Generator().manual_seed(number))


class Datastore:
    def __init__(self):
        self.keys = []

    def add(self, keys):
        self.keys.append(keys)

    def nearest(self, query):
        return torch.cat([(query @ keys.T).topk(4).values for keys in self.keys], 1).topk(4).values


def main():
    encoder = nn.Sequential(nn.EmbeddingBag(1000, 256), nn.Linear(256, 1024)).cuda().eval()
    store, corpus = Datastore(), iter(Corpus(28))
    for _ in range(options.steps):
        tokens = next(corpus, None)  # step
        with torch.no_grad():
            if tokens is not None:
                store.add(encoder(tokens.cuda()))
            else:
                store.nearest(encoder(torch.randint(0, 1000, (8, 64)).cuda()))


main()
