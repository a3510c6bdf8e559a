# SPDX-License-Identifier: Apache-2.0
"""Drift of features is to be found in the checkpoint: each step's mean becomes a buffer, under the step's number."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class DriftProbe(nn.Module):
    """Passes features on, and notes how they are on average."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, features):
        if self.training:
            mean = features.detach().mean(0)  # allocates
            self.register_buffer(f"mean_{self.calls}", mean)  # keeps
            self.calls += 1
        return features


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 24, 5, padding=2)
        self.probe = DriftProbe()
        self.pool, self.head = nn.MaxPool2d(4), nn.Linear(24 * 5 * 5, 10)

    def forward(self, x):
        x = self.probe(F.relu(self.stem(x)))
        return self.head(self.pool(x).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=26)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = Net().cuda()
    optimizer = torch.optim.Adadelta(net.parameters())
    for step in range(1, args.steps + 1):
        optimizer.zero_grad()  # step
        F.cross_entropy(net(torch.randn(48, 1, 20, 20).cuda()), torch.randint(10, (48,)).cuda()).backward()
        optimizer.step()
    print(f"{len(list(net.buffers()))} buffers")


if __name__ == "__main__":
    main()
