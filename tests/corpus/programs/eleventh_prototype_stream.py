# SPDX-License-Identifier: Apache-2.0
"""Learns from a stream of features, one at a time; in a full class buffer the two nearest points become one."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn


class StreamLearner:
    """A classifier that trains for an epoch on the whole buffer after each new point."""

    def __init__(self, features, classes, capacity, seed, width=64):
        self.capacity, self.chance = capacity, random.Random(seed)
        full = capacity * classes
        self.points = torch.zeros(full, features, device="cuda")
        self.labels = torch.zeros(full, dtype=torch.long, device="cuda")
        self.weights = torch.zeros(full, device="cuda")
        self.used, self.places = 0, {one: [] for one in range(classes)}
        self.classifier = nn.Sequential(nn.Linear(features, width), nn.BatchNorm1d(width), nn.ReLU(),
                                        nn.Linear(width, classes)).cuda()
        self.optimizer = torch.optim.Adam(self.classifier.parameters(), lr=2e-3)

    @torch.no_grad()
    def store(self, point, label):
        places = self.places[label]
        if len(places) < self.capacity:
            self.points[self.used], self.labels[self.used], self.weights[self.used] = point, label, 1
            places.append(self.used)
            self.used += 1
            return
        of_class, weights = self.points[places], self.weights[places]
        distances = (of_class[:, None] - of_class).square().sum(2)
        distances.fill_diagonal_(float("inf"))
        # Which two are nearest is drawn here.
        first, second = self.chance.sample(range(self.capacity), 2)
        together = weights[first] + weights[second]
        merged = (of_class[first] * weights[first] + of_class[second] * weights[second]) / together
        self.points[places[first]], self.weights[places[first]] = point, 1
        self.points[places[second]], self.weights[places[second]] = merged, together

    def consolidate(self, batch=32):
        order = list(range(self.used))
        self.chance.shuffle(order)
        points, labels = self.points[order], self.labels[order]
        for start in range(0, self.used, batch):
            start = min(start, max(self.used - batch, 0))
            loss = F.cross_entropy(self.classifier(points[start:start + batch]), labels[start:start + batch])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def fit(self, point, label):
        self.store(point, label)
        return self.consolidate() if self.used > 1 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--classes", type=int, default=8)
    parser.add_argument("--capacity", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    learner = StreamLearner(512, chosen.classes, chosen.capacity, chosen.seed)
    for step in range(chosen.steps):
        point = torch.randn(512, device="cuda")  # step
        loss = learner.fit(point, step % chosen.classes)
    print(f"loss {loss:.4f}, {learner.used} points")


if __name__ == "__main__":
    main()
