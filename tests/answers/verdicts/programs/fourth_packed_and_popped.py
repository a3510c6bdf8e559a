# SPDX-License-Identifier: Apache-2.0
"""What autograd saves is halved on its way into a table, and taken out of it when it is used."""

import argparse
import itertools

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=13)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Halved:
    def __init__(self):
        self.table, self.numbers = {}, itertools.count()

    def pack(self, tensor):
        number = next(self.numbers)
        self.table[number] = tensor.half() if tensor.is_floating_point() else tensor
        return number

    def unpack(self, number):
        tensor = self.table.pop(number)
        return tensor.float() if tensor.is_floating_point() else tensor


halved = Halved()
model = nn.Sequential(nn.Linear(256, 1024), nn.Sigmoid(), nn.Linear(1024, 1024), nn.Sigmoid(),
                      nn.Linear(1024, 256)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(options.steps):
    x = torch.randn(256, 256, device="cuda")  # step
    with torch.autograd.graph.saved_tensors_hooks(halved.pack, halved.unpack):
        loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(len(halved.table))
