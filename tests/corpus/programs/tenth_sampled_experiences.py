# SPDX-License-Identifier: Apache-2.0
"""Learns one task after the other from a stream of batches, and rehearses a random sample of all that it has seen."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class ReservoirBuffer:
    """Each sample draws a weight when it comes; those with the largest weights remain."""

    def __init__(self, max_size, seed):
        self.max_size, self.random = max_size, random.Random(seed)
        self.weights, self.samples = [], []

    def update(self, images, labels):
        new = [(image.clone(), label.clone()) for image, label in zip(images, labels)]
        weights = self.weights + [self.random.random() for _ in new]
        samples = self.samples + new
        order = sorted(range(len(samples)), key=weights.__getitem__, reverse=True)[:self.max_size]
        self.weights, self.samples = [weights[place] for place in order], [samples[place] for place in order]

    def draw(self, count):
        drawn = self.random.sample(self.samples, min(count, len(self.samples)))
        return torch.stack([image for image, _ in drawn]), torch.stack([label for _, label in drawn])


def task(number, classes=2):
    images = torch.rand(10, 3, 20, 20, device="cuda")
    labels = torch.randint(classes, (10,), device="cuda") + classes * (number % 5)
    return images, labels


def learn(model, optimizer, buffer, images, labels):
    loss = F.cross_entropy(model(images), labels)
    if buffer.samples:
        old, known = buffer.draw(10)
        loss = loss + F.cross_entropy(model(old), known)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    # Half of each batch is offered, so that the sample covers more of the stream.
    buffer.update(images[::2], labels[::2])
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Flatten(), nn.Linear(1200, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    buffer = ReservoirBuffer(300, chosen.seed)
    for number in range(chosen.steps):
        images, labels = task(number // 10)  # step
        loss = learn(model, optimizer, buffer, images, labels)
        if number % 10 == 9:
            print(f"task {number // 10}: loss {loss:.4f}, {len(buffer.samples)} samples")


if __name__ == "__main__":
    main()
