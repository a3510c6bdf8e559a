# SPDX-License-Identifier: Apache-2.0
"""Embeddings of a shop's articles; the table doubles when articles come in that it has no room for."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

CATALOGUE = [f"article-{number:03d}" for number in range(600)]


class GrowingEmbedding(nn.Module):
    def __init__(self, width, rows=64):
        super().__init__()
        self.rows = {}
        self.weight = nn.Parameter(torch.randn(rows, width) * 0.05)

    def numbers(self, names):
        for name in names:
            self.rows.setdefault(name, len(self.rows))
        while len(self.rows) > len(self.weight):
            self.double()
        return torch.tensor([self.rows[name] for name in names], device=self.weight.device)

    @torch.no_grad()
    def double(self):
        more = torch.randn_like(self.weight) * 0.05
        self.weight = nn.Parameter(torch.cat([self.weight, more]))

    def forward(self, names):
        return F.embedding(self.numbers(names), self.weight)


class Shop:
    """Articles go on sale in the catalogue's order; a basket has some of those on sale, and the newest."""

    def __init__(self, new_per_day=9):
        self.on_sale, self.new_per_day = 0, new_per_day

    def day(self):
        newest = CATALOGUE[self.on_sale:self.on_sale + self.new_per_day]
        self.on_sale = min(self.on_sale + self.new_per_day, len(CATALOGUE))
        return newest + [CATALOGUE[place] for place in torch.randint(self.on_sale, (40 - len(newest),)).tolist()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    shop, articles = Shop(), GrowingEmbedding(192).cuda()
    for _ in range(args.steps):
        names = shop.day()  # step
        vectors = articles(names)
        scores = vectors @ vectors.T
        loss = F.cross_entropy(scores, torch.arange(len(names), device="cuda"))
        gradient, = torch.autograd.grad(loss, [articles.weight])
        with torch.no_grad():
            articles.weight -= 0.1 * gradient


if __name__ == "__main__":
    main()
