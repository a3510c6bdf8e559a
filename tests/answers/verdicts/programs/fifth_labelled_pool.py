# SPDX-License-Identifier: Apache-2.0
"""Active learning: every third step the least certain pictures of the pool are labelled, until none are left."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Pool:
    def __init__(self, pictures):
        self.waiting = pictures

    def take(self, model, count):
        with torch.no_grad():
            margins = model(self.waiting[:, :192].cuda()).topk(2).values.diff(dim=1)[:, 0]
        order = margins.argsort(stable=True).cpu().clamp(0, len(self.waiting) - 1)
        self.waiting = self.waiting[order]
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        return taken


class ActiveLearner:
    def __init__(self, model, pool, budget):
        self.model, self.pool, self.budget = model, pool, budget
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.labelled = []

    def ask(self):
        if len(self.pool.waiting) == 0:
            return
        taken = self.pool.take(self.model, self.budget).cuda()
        self.labelled.append((taken, torch.randint(8, (len(taken),)).cuda()))

    def train(self):
        images, labels = self.labelled[torch.randint(len(self.labelled), ()).item()]
        loss = F.cross_entropy(self.model(images[:, :192]), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ask-every", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, 8)).cuda()
    learner = ActiveLearner(model, Pool(torch.rand(480, 3 * 32 * 32)), budget=32)
    for step in range(args.steps):
        asks = step % args.ask_every == 0  # step
        if asks:
            learner.ask()
        learner.train()


if __name__ == "__main__":
    main()
