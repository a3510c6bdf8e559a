# SPDX-License-Identifier: Apache-2.0
"""Pool-based active learning: each round buys labels for a few samples and trains on all that are labelled."""

import argparse
import random
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Budget:
    total: int = 400
    spent: int = 0

    def take(self, wanted):
        granted = min(wanted, self.total - self.spent)
        self.spent += granted
        return granted


class Pool:
    """Samples on the host; those with a label are on the GPU too."""

    def __init__(self, rng, size=4000, features=64, classes=7):
        self.rng, self.classes = rng, classes
        self.samples = torch.randn(size, features)
        self.unlabelled = list(range(size))
        self.x = torch.empty(0, features, device="cuda")
        self.y = torch.empty(0, dtype=torch.long, device="cuda")

    def candidates(self, count):
        return self.rng.sample(self.unlabelled, count)

    def label(self, numbers):
        labels = [self.rng.randrange(self.classes) for _ in numbers]
        self.x = torch.cat([self.x, self.samples[numbers].cuda()])
        self.y = torch.cat([self.y, torch.tensor(labels, dtype=torch.long).cuda()])
        bought = set(numbers)
        self.unlabelled = [number for number in self.unlabelled if number not in bought]


class Committee:
    """Its members are of different widths; samples on which they disagree come first."""

    def __init__(self, widths=(16, 24, 32)):
        self.members = [nn.Sequential(nn.Linear(64, w), nn.ReLU(), nn.Linear(w, 7)).cuda() for w in widths]
        parameters = [parameter for member in self.members for parameter in member.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=1e-2)

    @torch.no_grad()
    def most_disputed(self, pool, count):
        numbers = pool.candidates(100)
        x = pool.samples[numbers].cuda()
        votes = torch.stack([member(x).softmax(1) for member in self.members])
        disputed = votes.var(0).sum(1).topk(count).indices.tolist()
        return [numbers[place] for place in disputed]

    def fit(self, pool):
        for member in self.members:
            nn.functional.cross_entropy(member(pool.x), pool.y).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    pool, committee, budget = Pool(random.Random(chosen.seed)), Committee(), Budget()
    for _ in range(chosen.steps):
        affordable = budget.take(4)  # step
        if affordable:
            pool.label(committee.most_disputed(pool, affordable))
        committee.fit(pool)
    print(f"labels {len(pool.y)}, budget left {budget.total - budget.spent}")


if __name__ == "__main__":
    main()
