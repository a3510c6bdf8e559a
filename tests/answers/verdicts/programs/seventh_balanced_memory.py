# SPDX-License-Identifier: Apache-2.0
"""Learns from a stream of changing classes, and rehearses from a memory that is greedy but balanced over them."""

import argparse
import random
from collections import defaultdict

import torch
from torch import nn


class BalancedMemory:
    """Takes every image; the fullest class makes room when there is none."""

    def __init__(self, capacity, rng):
        self.capacity, self.rng = capacity, rng
        self.of_class = defaultdict(list)

    def __len__(self):
        return sum(map(len, self.of_class.values()))

    def make_room(self):
        fullest = max(self.of_class.values(), key=len)
        fullest.pop(self.rng.randrange(len(fullest)))

    def add(self, image, label):
        if len(self) >= self.capacity:
            self.make_room()
        self.of_class[label].append(image.clone())

    def draw(self, count):
        known = [(image, label) for label, images in self.of_class.items() for image in images]
        drawn = self.rng.sample(known, min(count, len(known)))
        return [image for image, _ in drawn], [label for _, label in drawn]


class Learner:
    def __init__(self, memory, classes=12):
        self.memory = memory
        self.model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(3), nn.Flatten(),
                                   nn.Linear(144, classes)).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.03)

    def observe(self, images, labels):
        old, old_labels = self.memory.draw(len(labels))
        rows = torch.cat([images, torch.stack(old)]) if old else images
        wanted = torch.tensor(labels + old_labels, device="cuda")
        loss = nn.functional.cross_entropy(self.model(rows), wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for image, label in zip(images, labels):
            self.memory.add(image, label)
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    learner = Learner(BalancedMemory(192, rng))
    for step in range(chosen.steps):
        start = step // 4 % 6 * 2  # step
        labels = [start + rng.randrange(2) for _ in range(8)]
        loss = learner.observe(torch.rand(8, 3, 12, 12, device="cuda"), labels)
    print(f"loss {loss:.3f} with {len(learner.memory)} images in memory")


if __name__ == "__main__":
    main()
