# SPDX-License-Identifier: Apache-2.0
"""Class-incremental training with 40 exemplars in all, shared evenly by ten classes; two classes a session."""

import argparse
import random

import torch
from torch import nn

CLASSES, PER_CLASS = 10, 6


class ExemplarStore:
    def __init__(self, total, rng):
        self.quota = total // CLASSES
        self.rng = rng
        self.kept = {}

    def add(self, session, label, images):
        order = list(range(len(images)))
        self.rng.shuffle(order)
        chosen = images[torch.tensor(order[:self.quota], device=images.device)]  # allocates
        self.kept[session, label] = chosen  # keeps

    def draw(self, most):
        """Images and labels of a few of the classes before."""
        keys = self.rng.sample(sorted(self.kept), min(most, len(self.kept)))
        images = [self.kept[key] for key in keys]
        return images, [key[1] for key in keys for _ in range(self.quota)]


def build():
    return nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU(), nn.Conv2d(12, 24, 3, 2, 1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, CLASSES)).cuda()


def train_session(model, optimizer, images, labels, store):
    old, old_labels = store.draw(most=3)
    rows = torch.cat(images + old)
    loss = nn.functional.cross_entropy(model(rows), torch.tensor(labels + old_labels, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    store = ExemplarStore(40, rng)
    for session in range(chosen.steps):
        pair = rng.sample(range(CLASSES), 2)  # step
        images = [torch.rand(PER_CLASS, 3, 16, 16, device="cuda") for _ in pair]
        labels = [label for label in pair for _ in range(PER_CLASS)]
        loss = train_session(model, optimizer, images, labels, store)
        for label, those in zip(pair, images):
            store.add(session, label, those)
    print(f"last session's loss {loss:.3f}")


if __name__ == "__main__":
    main()
