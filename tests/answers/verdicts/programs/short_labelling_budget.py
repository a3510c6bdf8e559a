# SPDX-License-Identifier: Apache-2.0
"""Active learning: each round has the least sure pictures labelled, as far as the budget goes."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

BUDGET = 320


class Pool:
    def __init__(self, budget):
        self.budget = budget
        self.pictures = torch.empty(0, 1024, device="cuda")
        self.labels = torch.empty(0, dtype=torch.int64, device="cuda")

    def label(self, pictures):
        """Someone looks at them; not more than the budget allows."""
        pictures = pictures[:self.budget - len(self.labels)]
        self.pictures = torch.cat([self.pictures, pictures])
        self.labels = torch.cat([self.labels, (pictures[:, :3].argmax(1))])


def least_sure(model, count):
    with torch.no_grad():
        pictures = torch.rand(128, 1024).cuda()
        return pictures[model(pictures).softmax(1).amax(1).argsort()[:count]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model, pool = nn.Sequential(nn.Linear(1024, 32), nn.ReLU(), nn.Linear(32, 3)).cuda(), Pool(BUDGET)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(chosen.steps):
        if len(pool.labels) < pool.budget:
            pool.label(least_sure(model, 16))
        drawn = torch.randint(len(pool.labels), (16,), device="cuda")
        loss = F.cross_entropy(model(pool.pictures[drawn]), pool.labels[drawn])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(pool.labels)} labels")


if __name__ == "__main__":
    main()
