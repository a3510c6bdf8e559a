# SPDX-License-Identifier: Apache-2.0
"""A memory bank of nine kinds, twelve features of each, the oldest going first; rare kinds take long to fill theirs."""

import argparse
from collections import defaultdict, deque
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

# Of ten batches, how many have samples of each kind: three of each of the first five, one of each other.
OFTEN = (10, 10, 9, 8, 7, 6, 5, 4, 2)


def kinds_of(step):
    return [kind for kind, often in enumerate(OFTEN) if step * often % 10 < often for _ in range(3 if kind < 5 else 1)]


class Bank:
    def __init__(self, size):
        self.rows = defaultdict(partial(deque, maxlen=size))

    def pull(self, features, kinds):
        away = [(one - other).square().sum() for one, kind in zip(features, kinds) for other in self.rows[kind]]
        return torch.stack(away).mean() if away else features.square().sum()

    def add(self, features, kinds):
        for one, kind in zip(features.detach(), kinds):
            self.rows[kind].append(one.clone())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(70, 128), nn.ReLU(), nn.Linear(128, 1024)).cuda()
    optimizer, bank = torch.optim.Adam(net.parameters(), lr=1e-3), Bank(12)
    for step in range(args.steps):
        kinds = kinds_of(step)  # step
        features = F.normalize(net(torch.randn(len(kinds), 70).cuda()), dim=-1)
        optimizer.zero_grad()
        bank.pull(features, kinds).backward()
        optimizer.step()
        bank.add(features, kinds)
    print("features:", [len(bank.rows[kind]) for kind in range(len(OFTEN))])


if __name__ == "__main__":
    main()
