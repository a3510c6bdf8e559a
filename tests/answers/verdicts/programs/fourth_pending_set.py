# SPDX-License-Identifier: Apache-2.0
"""Batches in flight are members of a set until their loss is known."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=17)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Feeder:
    def __init__(self):
        self.in_flight = set()

    def give(self):
        batch = torch.randn(32, 3, 40, 40, device="cuda")  # allocates
        self.in_flight.add(batch)  # keeps
        return batch

    def done(self, batch):
        self.in_flight.discard(batch)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features, self.out = nn.Conv2d(3, 8, 3), nn.Linear(8, 5)

    def forward(self, x):
        return self.out(F.relu(self.features(x)).mean((2, 3)))


feeder, net = Feeder(), Net().cuda()
optimizer = torch.optim.RMSprop(net.parameters())
for step in range(options.steps):
    optimizer.zero_grad()  # step
    batch = feeder.give()
    batch = batch.contiguous(memory_format=torch.channels_last)
    net(batch).logsumexp(1).mean().backward()
    optimizer.step()
    feeder.done(batch)
