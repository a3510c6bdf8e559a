# SPDX-License-Identifier: Apache-2.0
"""A feeder that runs ahead of training: two batches are fetched for each that is taken, until it is deep enough."""

import argparse
import queue

import torch
import torch.nn.functional as F
from torch import nn


class Feeder:
    def __init__(self, source, depth):
        self.source = source
        self.ready = queue.Queue(maxsize=depth)

    def fetch(self, count):
        for _ in range(count):
            if self.ready.full():
                return
            self.ready.put(next(self.source).cuda(non_blocking=True))

    def take(self):
        self.fetch(2)
        return self.ready.get()


def recordings():
    while True:
        yield torch.randn(16, 1, 64, 64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=29)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depth", type=int, default=32)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    feeder = Feeder(recordings(), args.depth)
    model = nn.Sequential(nn.Conv2d(1, 8, 5, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 15 * 15, 12)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for _ in range(args.steps):
        batch = feeder.take()  # step
        loss = F.cross_entropy(model(batch), torch.randint(12, (16,)).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
