# SPDX-License-Identifier: Apache-2.0
"""Trains a tabular model; every fifth step's copy joins an ensemble, of which the last three predict."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Ensemble:
    def __init__(self, take=3):
        self.take = take
        self.members = []

    def add(self, model):
        member = copy.deepcopy(model).eval().requires_grad_(False)  # allocates
        self.members.append(member)  # keeps

    @torch.no_grad()
    def predict(self, x):
        latest = self.members[-self.take:]
        return sum(F.softmax(member(x), 1) for member in latest) / len(latest)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    ensemble = Ensemble()
    held_out = torch.randn(64, 256).cuda()
    for step in range(args.steps):
        x, y = torch.randn(128, 256).cuda(), torch.randint(10, (128,)).cuda()  # step
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.every == args.every - 1:
            ensemble.add(model)
            print(step, tuple(ensemble.predict(held_out).shape))


if __name__ == "__main__":
    main()
