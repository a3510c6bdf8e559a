# SPDX-License-Identifier: Apache-2.0
"""Class-incremental learning (iCaRL): of each class that has been learnt some exemplars stay for rehearsal."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


class Learner:
    def __init__(self, per_class=16):
        self.per_class = per_class
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 24 * 24, 64), nn.ReLU(), nn.Linear(64, len(CLASSES)))
        self.net.cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)
        self.exemplars = {}

    def learn(self, label, images):
        loss = F.cross_entropy(self.net(images), torch.full((len(images),), label).cuda())
        for old, kept in self.exemplars.items():
            loss = loss + F.cross_entropy(self.net(kept), torch.full((len(kept),), old).cuda())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def rehearse_later(self, label, images):
        self.exemplars[label] = images[:self.per_class].clone()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps-per-class", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    learner = Learner()
    for step in range(args.steps):
        label = min(step // args.steps_per_class, len(CLASSES) - 1)  # step
        images = torch.rand(32, 3, 24, 24).cuda()
        learner.learn(label, images)
        if step % args.steps_per_class == args.steps_per_class - 1:
            learner.rehearse_later(label, images)


if __name__ == "__main__":
    main()
