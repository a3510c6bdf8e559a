# SPDX-License-Identifier: Apache-2.0
"""Online continual learning: a reservoir of batches, each of those seen so far in it with the same chance."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn


class Reservoir:
    def __init__(self, size):
        self.size = size
        self.seen = 0
        self.batches = []

    def add(self, batch):
        self.seen += 1
        if len(self.batches) < self.size:
            self.batches.append(batch)
            return
        place = random.randrange(self.seen)
        if place < self.size:
            self.batches[place] = batch

    def draw(self):
        return random.choice(self.batches)


class DarkExperienceReplay:
    """Rehearses with what the network itself had answered at the time."""

    def __init__(self, size):
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 256, 96), nn.ReLU(), nn.Linear(96, 50)).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.03)
        self.reservoir = Reservoir(size)

    def learn(self, images, labels):
        logits = self.net(images)
        loss = F.cross_entropy(logits, labels)
        if self.reservoir.seen:
            old_images, old_logits = self.reservoir.draw()
            loss = loss + 0.5 * F.mse_loss(self.net(old_images), old_logits)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.reservoir.add((images, logits.detach()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory", type=int, default=64)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    replay = DarkExperienceReplay(args.memory)
    for _ in range(args.steps):
        images, labels = torch.rand(32, 3, 16, 16).cuda(), torch.randint(50, (32,)).cuda()  # step
        replay.learn(images, labels)


if __name__ == "__main__":
    main()
