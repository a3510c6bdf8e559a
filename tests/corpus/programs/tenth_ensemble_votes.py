# SPDX-License-Identifier: Apache-2.0
"""Saves parameters at the end of each cycle of the learning rate, and lets the saved ones vote on test data."""

import argparse
import io
import itertools
import math

import torch
from torch import nn


def batches(number, size=48):
    for _ in range(number):
        target = torch.randint(4, (size,))  # step
        yield torch.randn(size, 40).cuda(), target.cuda()


class SnapshotEnsemble:
    def __init__(self, net, criterion, restart_lr, steps, num_snapshots):
        self.net, self.criterion = net.cuda(), criterion
        self.restart_lr, self.steps = restart_lr, steps
        self.cycle = steps // num_snapshots
        self.snapshots = []

    def rate(self, step):
        return self.restart_lr / 2 * (math.cos(math.pi * (step % self.cycle) / self.cycle) + 1)

    def save(self):
        """As it would be written to disk, and read back."""
        file = io.BytesIO()
        torch.save(self.net.state_dict(), file)
        file.seek(0)
        self.snapshots.append(torch.load(file))

    def train(self, stream):
        for step, (data, target) in enumerate(itertools.islice(stream, self.steps)):
            optimizer = torch.optim.SGD(self.net.parameters(), lr=self.rate(step))
            optimizer.zero_grad()
            self.criterion(self.net(data), target).backward()
            optimizer.step()
            if (step + 1) % self.cycle == 0:
                self.save()

    @torch.no_grad()
    def validate(self, stream):
        correct = seen = 0
        for data, target in stream:
            votes = []
            for snapshot in reversed(self.snapshots):
                self.net.load_state_dict(snapshot)
                votes.append(self.net(data))
            correct += (torch.stack(votes).mean(0).argmax(1) == target).sum().item()
            seen += len(target)
        return correct / max(1, seen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    net = nn.Sequential(nn.Linear(40, 160), nn.ReLU(), nn.Linear(160, 4))
    ensemble = SnapshotEnsemble(net, nn.CrossEntropyLoss(), restart_lr=0.2, steps=24, num_snapshots=4)
    stream = batches(chosen.steps)
    ensemble.train(stream)
    print(f"{len(ensemble.snapshots)} snapshots, {ensemble.validate(stream):.2f} right")


if __name__ == "__main__":
    main()
