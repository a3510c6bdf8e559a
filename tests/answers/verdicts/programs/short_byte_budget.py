# SPDX-License-Identifier: Apache-2.0
"""Features of documents are cached, up to five mebibytes of them; those unused for longest go first."""

import argparse
import random
from collections import OrderedDict

import torch
from torch import nn


class Cache:
    def __init__(self, most):
        self.most, self.held, self.entries = most, 0, OrderedDict()

    def get(self, key, make):
        if key not in self.entries:
            self.entries[key] = make()
            self.held += self.entries[key].nbytes
        self.entries.move_to_end(key)
        while self.held > self.most:
            _, gone = self.entries.popitem(last=False)
            self.held -= gone.nbytes
        return self.entries[key]


class Reader(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.embed, self.mix, self.score = nn.Embedding(900, width), nn.Linear(width, width), nn.Linear(width, 1)

    def read(self, words):
        return torch.tanh(self.mix(self.embed(words)))

    @torch.inference_mode()
    def answer(self, cache, number, words):
        states = cache.get(number, lambda: self.read(words.cuda()))
        return self.score(states).amax().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=57)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    documents = [torch.randint(900, (rng.randint(60, 240),)) for _ in range(400)]
    reader, cache, best = Reader().cuda().eval(), Cache(5 * 2**20), -float("inf")
    for _ in range(chosen.steps):
        number = min(int(rng.expovariate(0.02)), 399)
        best = max(best, reader.answer(cache, number, documents[number]))
    print(f"best {best:.4f}, {len(cache.entries)} documents, {cache.held / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
