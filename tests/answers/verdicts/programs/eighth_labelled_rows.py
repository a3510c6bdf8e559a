# SPDX-License-Identifier: Apache-2.0
"""Active learning: the group of rows that a committee argues most about is labelled and joins the training."""

import argparse
import random
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Labelled:
    group: int
    rows: torch.Tensor
    labels: torch.Tensor


class Oracle:
    """The rows are on the host; whoever labels them sends them along."""

    def __init__(self, groups, size=48, width=128):
        self.rows = torch.randn(groups, size, width)
        self.labels = torch.randint(10, (groups, size))

    def label(self, group):
        return Labelled(group, self.rows[group].to("cuda"), self.labels[group].to("cuda"))


class ActiveLearner:
    def __init__(self, oracle, draw, members=3):
        self.oracle, self.draw = oracle, draw
        self.members = [nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
                        for _ in range(members)]
        self.optimizers = [torch.optim.SGD(member.parameters(), lr=0.05, momentum=0.9) for member in self.members]
        self.unlabelled = list(range(len(oracle.rows)))
        self.labelled = []

    def disagreement(self, group):
        # Stands in for the entropy of the members' votes.
        return self.draw.random() + group / 1000

    def acquire(self):
        candidates = self.draw.sample(self.unlabelled, min(8, len(self.unlabelled)))
        best = max(candidates, key=self.disagreement)
        self.unlabelled.remove(best)
        self.labelled.append(self.oracle.label(best))

    def train(self, batches=2):
        for member, optimizer in zip(self.members, self.optimizers):
            for one in self.draw.choices(self.labelled, k=batches):
                loss = nn.functional.cross_entropy(member(one.rows), one.labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    def round(self):
        if self.unlabelled:
            self.acquire()
        self.train()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--groups", type=int, default=44)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    learner = ActiveLearner(Oracle(chosen.groups), random.Random(chosen.seed))
    for _ in range(chosen.steps):
        learner.round()  # step
    print(f"{len(learner.labelled)} groups labelled, {len(learner.unlabelled)} not")


if __name__ == "__main__":
    main()
