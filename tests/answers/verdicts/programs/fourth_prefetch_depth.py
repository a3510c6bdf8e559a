# SPDX-License-Identifier: Apache-2.0
"""The loader is faster than training: it gets one batch more ahead in each step, at most six in an epoch."""

import argparse
from collections import deque

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=25)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
EPOCH, AHEAD = 12, 6


def ahead(loader):
    staged, source, ended = deque(), iter(loader), False
    while staged or not ended:
        for _ in range(2):
            if len(staged) < AHEAD and not ended:
                batch = next(source, None)
                ended = batch is None
                if batch:
                    staged.append(batch[0].cuda(non_blocking=True))  # fills
        if staged:
            yield staged.popleft()


def endless(loader):
    while True:
        yield from ahead(loader)


def main():
    loader = DataLoader(TensorDataset(torch.randn(EPOCH * 32, 3, 32, 32)), batch_size=32, pin_memory=False)
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    batches = endless(loader)
    for _ in range(options.steps):
        x = next(batches)  # step
        optimizer.zero_grad()
        net(x).logsumexp(1).mean().backward()
        optimizer.step()


main()
