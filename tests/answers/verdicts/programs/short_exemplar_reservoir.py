# SPDX-License-Identifier: Apache-2.0
"""Continual learning with exemplars: of all batches so far, twenty that were drawn by chance are kept."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class Reservoir:
    def __init__(self, places, rng):
        self.places, self.rng = places, rng
        self.seen, self.exemplars = 0, []

    def offer(self, rows, labels):
        self.seen += 1
        if len(self.exemplars) < self.places:
            self.exemplars.append((rows, labels))
            return
        place = self.rng.randrange(self.seen)
        if place < self.places:
            self.exemplars[place] = rows, labels

    def draw(self):
        return self.rng.choice(self.exemplars)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(220, 96), nn.ELU(), nn.Linear(96, 30)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    reservoir = Reservoir(20, random.Random(chosen.seed))
    for step in range(chosen.steps):
        task = 3 * (step // 6)
        rows, labels = torch.randn(48, 220).cuda() + 0.1 * task, torch.randint(task, task + 3, (48,)).cuda()
        reservoir.offer(rows, labels)
        former, names = reservoir.draw()
        loss = F.cross_entropy(model(rows), labels) + F.cross_entropy(model(former), names)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(reservoir.exemplars)} of {reservoir.seen} batches")


if __name__ == "__main__":
    main()
