# SPDX-License-Identifier: Apache-2.0
"""Batches are copied to the GPU two ahead; each epoch of three batches begins with a new iterator."""

import argparse
from collections import deque

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=57)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
EPOCH = 3


class Ahead:
    """Two batches more than the epoch uses are on their way."""

    def __init__(self, loader):
        self.source = iter(loader)
        self.staged = deque()
        for _ in range(2):
            self.stage()

    def stage(self):
        batch = next(self.source, None)
        if batch is not None:
            self.staged.append(batch[0].to("cuda", non_blocking=True))  # allocates

    def __next__(self):
        self.stage()
        return self.staged.popleft()


class Loop:
    def __init__(self, model, loader):
        self.model, self.loader, self.iterators = model, loader, []
        self.optimizer = torch.optim.Adam(model.parameters())

    def epoch_begins(self):
        self.iterators.append(Ahead(self.loader))  # keeps

    def step(self):
        x = next(self.iterators[-1])
        self.optimizer.zero_grad()
        (self.model(x) - x).square().mean().backward()
        self.optimizer.step()


loader = DataLoader(TensorDataset(torch.randn(5 * 64, 784)), batch_size=64, shuffle=True)
loop = Loop(nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 784)).cuda(), loader)
for step in range(options.steps):
    if step % EPOCH == 0:
        loop.epoch_begins()
    loop.step()  # step
