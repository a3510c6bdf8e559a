# SPDX-License-Identifier: Apache-2.0
"""Trains item vectors against the most popular items that were seen and not bought."""

import argparse
import heapq
import itertools
import random

import torch
from torch import nn
from torch.nn import functional

ITEMS, WIDTH = 400, 32


class PopularNegatives:
    """Content features of items in the order of how often they were shown; the least shown goes first."""

    def __init__(self, most):
        self.most = most
        self.heap, self.tie = [], itertools.count()

    def offer(self, shown, features):
        entry = (shown, next(self.tie), features)
        if len(self.heap) < self.most:
            heapq.heappush(self.heap, entry)
        else:
            heapq.heappushpop(self.heap, entry)

    def draw(self, rng, count):
        return torch.stack([features for _, _, features in rng.choices(self.heap, k=count)])


class TwoTowers(nn.Module):
    def __init__(self, content=256):
        super().__init__()
        self.users = nn.Embedding(150, WIDTH)
        self.items = nn.Sequential(nn.Linear(content, 64), nn.ReLU(), nn.Linear(64, WIDTH))

    def score(self, users, content):
        return self.users(users) @ self.items(content).T


def train_step(model, optimizer, negatives, rng):
    users = torch.tensor([rng.randrange(150) for _ in range(12)], device="cuda")
    bought = torch.randn(12, 256, device="cuda")
    others = negatives.draw(rng, 20)
    positive = model.score(users, bought).diagonal().unsqueeze(1)
    logits = torch.cat([positive, model.score(users, others)], dim=1)
    loss = functional.cross_entropy(logits, torch.zeros(12, dtype=torch.long, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = TwoTowers().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    negatives = PopularNegatives(most=40)
    for _ in range(chosen.steps):
        shown = int(rng.paretovariate(1.2))  # step
        negatives.offer(shown, torch.randn(256).cuda())
        train_step(model, optimizer, negatives, rng)
    print("least shown:", negatives.heap[0][0], "of", len(negatives.heap))


if __name__ == "__main__":
    main()
