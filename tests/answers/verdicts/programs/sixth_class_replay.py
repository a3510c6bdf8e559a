# SPDX-License-Identifier: Apache-2.0
"""Learns from a stream in which classes drift, and rehearses what it has seen of each class."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class ClassReplay:
    """As many examples of one class as of another."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.by_class = {}

    def add(self, images, labels):
        for image, label in zip(images, labels.tolist()):
            if len(self.by_class) >= self.capacity:
                largest = max(self.by_class, key=lambda one: len(self.by_class[one]))
                self.by_class[largest].pop(random.randrange(len(self.by_class[largest])))
            example = image.clone()  # allocates
            self.by_class.setdefault(label, []).append(example)  # keeps

    def sample(self, count):
        labels = random.choices(list(self.by_class), k=count)
        images = torch.stack([random.choice(self.by_class[label]) for label in labels])
        return images, torch.tensor(labels, device="cuda")


class Network(nn.Sequential):
    def __init__(self, classes):
        super().__init__(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, classes))


def stream(steps, classes, batch=8):
    for step in range(steps):
        first = step // 10 % (classes - 2)
        yield torch.rand(batch, 3, 32, 32), torch.randint(first, first + 3, (batch,))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--capacity", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    model, replay = Network(classes=10).cuda(), ClassReplay(args.capacity)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in stream(args.steps, classes=10):
        images, targets = images.cuda(), labels.cuda()  # step
        loss = F.cross_entropy(model(images), targets)
        if replay.by_class:
            old, old_targets = replay.sample(8)
            loss = loss + F.cross_entropy(model(old), old_targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        replay.add(images, labels)


if __name__ == "__main__":
    main()
