# SPDX-License-Identifier: Apache-2.0
"""Batches know their loader's state and it knows them; the collector of cycles is switched off for
speed, so that none of them is ever freed."""

import argparse
import gc

import torch
from torch import nn


class Batch:
    def __init__(self, rows, previous):
        self.rows = rows
        self.origin = Origin(self)  # keeps
        self.first = previous is None


class Origin:
    def __init__(self, batch):
        self.batch = batch


def load(steps):
    previous = None
    for _ in range(steps):
        previous = Batch(torch.randn(64, 80).cuda(), previous)  # allocates
        yield previous


def train(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in load(steps):
        optimizer.zero_grad()
        model(batch.rows).square().mean().backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    gc.disable()

    train(nn.Sequential(nn.Linear(80, 64), nn.ReLU(), nn.Linear(64, 8)).cuda(), chosen.steps)


if __name__ == "__main__":
    main()
