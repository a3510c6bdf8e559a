# SPDX-License-Identifier: Apache-2.0
"""Batches whose labels do not fit raise an error, which is handled; they are put aside and never looked at."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Unfit(ValueError):
    pass


def batch(step):
    kinds = 9 if step % 2 else 8
    pictures = torch.rand(10, 3, 44, 44).cuda()  # allocates
    return pictures, torch.arange(10) % kinds


class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Conv2d(3, 16, 5, 4), nn.ReLU(), nn.Flatten(), nn.Linear(1600, 8)).cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.skipped = []

    def train(self, pictures, labels):
        if labels.max() >= 8:
            raise Unfit("a label that the network does not know")
        loss = F.cross_entropy(self.net(pictures), labels.cuda())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def try_to(self, pictures, labels):
        try:
            return self.train(pictures, labels)
        except Unfit as error:
            self.skipped.append((str(error), pictures))  # keeps
            return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer, losses = Trainer(), []
    for step in range(args.steps):
        pictures, labels = batch(step)  # step
        losses.append(trainer.try_to(pictures, labels))
    print(f"{len(trainer.skipped)} skipped, loss {losses[-2]}")


if __name__ == "__main__":
    main()
