# SPDX-License-Identifier: Apache-2.0
"""Elastic weight consolidation over a list of tasks: after each, its weights and their importance are kept."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

TASKS = ["digits", "letters", "clothes", "kanji", "drawings", "signs"]


class Consolidation:
    def __init__(self, model, strength=100.0):
        self.model, self.strength = model, strength
        self.tasks = []

    def finish_task(self, batches):
        importance = [torch.zeros_like(p) for p in self.model.parameters()]
        for x, y in batches:
            loss = F.cross_entropy(self.model(x), y)
            for total, g in zip(importance, torch.autograd.grad(loss, list(self.model.parameters()))):
                total += g.pow(2)
        weights = [p.detach().clone() for p in self.model.parameters()]
        self.tasks.append((weights, importance))

    def penalty(self):
        total = 0.0
        for weights, importance in self.tasks:
            for p, before, factor in zip(self.model.parameters(), weights, importance):
                total = total + (factor * (p - before).pow(2)).sum()
        return self.strength * total


def batch(task):
    images = torch.randn(32, 196) + TASKS.index(task)
    return images.cuda(), torch.randint(10, (32,)).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps-per-task", type=int, default=9)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(196, 192), nn.ReLU(), nn.Linear(192, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    consolidation = Consolidation(model)
    for step in range(args.steps):
        number = min(step // args.steps_per_task, len(TASKS) - 1)  # step
        x, y = batch(TASKS[number])
        loss = F.cross_entropy(model(x), y) + consolidation.penalty()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % args.steps_per_task == 0 and len(consolidation.tasks) < len(TASKS) - 1:
            consolidation.finish_task([batch(TASKS[number]) for _ in range(2)])


if __name__ == "__main__":
    main()
