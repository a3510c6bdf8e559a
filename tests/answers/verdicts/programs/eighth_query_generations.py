# SPDX-License-Identifier: Apache-2.0
"""A search service that keeps the candidates of a session's query, for the pages of results that may be asked for."""

import argparse
import itertools
import random

import torch
from torch import nn


class TwoGenerations:
    """A young and an old part; what is asked for again moves to the young one."""

    def __init__(self, size):
        self.size = size
        self.young, self.old = {}, {}

    def get(self, key):
        value = self.young.get(key)
        if value is None and key in self.old:
            value = self.old.pop(key)
            self.put(key, value)
        return value

    def put(self, key, value):
        if len(self.young) == self.size:
            self.young, self.old = {}, self.young
        self.young[key] = value


class Search:
    def __init__(self, items=1500, width=64, candidates=100):
        self.items = torch.randn(items, width, device="cuda")
        self.encoder = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, width)).cuda().eval()
        self.candidates = candidates
        self.results = TwoGenerations(size=30)

    def candidates_of(self, session):
        found = self.results.get(session)
        if found is None:
            query = self.encoder(torch.randn(1, 32, device="cuda"))
            best = (query @ self.items.T).topk(self.candidates).indices[0]
            found = self.items[best]
            self.results.put(session, found)
        return found

    @torch.inference_mode()
    def page(self, session, number, size=10):
        return self.candidates_of(session)[number * size:(number + 1) * size].mean(0)


def visits(draw):
    """Each session asks for its first pages and never returns."""
    for session in itertools.count():
        yield session, range(draw.randint(1, 4))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    search = Search()
    shown = 0
    for session, pages in itertools.islice(visits(random.Random(chosen.seed)), chosen.steps):
        shown += len(pages)  # step
        for number in pages:
            search.page(session, number)
    print(f"{shown} pages shown")


if __name__ == "__main__":
    main()
