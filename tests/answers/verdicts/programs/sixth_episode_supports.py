# SPDX-License-Identifier: Apache-2.0
"""Prototypical networks: five classes an episode; the support images of an episode are looked up and prepared once."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F

CLASSES, WAYS, SHOTS = 64, 5, 4


class Images:
    """Drawings of each class in host memory, the sets that episodes support themselves on, on the GPU."""

    def __init__(self, per_class=20):
        self.images = torch.rand(CLASSES, per_class, 1, 28, 28)
        self.supports = {}

    def support(self, classes):
        if classes not in self.supports:
            chosen = self.images[list(classes), :SHOTS].flatten(0, 1).cuda()
            turned = torch.cat([torch.rot90(chosen, turn, (2, 3)) for turn in range(4)])  # allocates
            self.supports[classes] = turned  # keeps
        return self.supports[classes]

    def queries(self, classes, count=5):
        labels = torch.arange(len(classes)).repeat_interleave(count)
        return self.images[list(classes), -count:].flatten(0, 1).cuda(), labels.cuda()


class Encoder(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(1, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
                         nn.Conv2d(32, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten())


def episode_loss(encoder, images, classes):
    support = encoder(images.support(classes))
    prototypes = support.unflatten(0, (4, WAYS, SHOTS)).mean((0, 2))
    queries, labels = images.queries(classes)
    return F.cross_entropy(-torch.cdist(encoder(queries), prototypes), labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=35)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    encoder, images = Encoder().cuda(), Images()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    for _ in range(args.steps):
        classes = tuple(random.sample(range(CLASSES), WAYS))  # step
        optimizer.zero_grad()
        episode_loss(encoder, images, classes).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
