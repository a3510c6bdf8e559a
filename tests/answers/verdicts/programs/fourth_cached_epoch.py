# SPDX-License-Identifier: Apache-2.0
"""A small data set is read once: its ten batches stay on the GPU, and later epochs take them from there."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=13)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Cached(torch.utils.data.Dataset):
    def __init__(self, batches):
        self.batches, self.on_gpu = batches, [None] * batches

    def __len__(self):
        return self.batches

    def __getitem__(self, number):
        if self.on_gpu[number] is None:
            generator = torch.Generator().manual_seed(number)
            self.on_gpu[number] = torch.randn(64, 1, 32, 32, generator=generator).cuda()
        return self.on_gpu[number]


data = Cached(10)
net = nn.Sequential(nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(options.steps):
    x = data[step % len(data)]  # step
    optimizer.zero_grad()
    F.cross_entropy(net(x), torch.zeros(64, dtype=torch.long, device="cuda")).backward()
    optimizer.step()
