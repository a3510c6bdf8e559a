# SPDX-License-Identifier: Apache-2.0
"""A new task joins every fifth step, until there are four; each has a head and an optimizer."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=27)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
TASKS = ("mask", "box", "depth", "flow")


class Multi:
    def __init__(self):
        self.trunk = nn.Linear(256, 512).cuda()
        self.heads, self.optimizers = {}, {"trunk": torch.optim.Adam(self.trunk.parameters())}

    def join(self, task):
        self.heads[task] = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 64)).cuda()
        self.optimizers[task] = torch.optim.Adam(self.heads[task].parameters())

    def step(self, x):
        hidden = self.trunk(x).relu()
        for optimizer in self.optimizers.values():
            optimizer.zero_grad()
        sum(head(hidden).square().mean() for head in self.heads.values()).backward()
        for optimizer in self.optimizers.values():
            optimizer.step()


multi, to_come = Multi(), list(TASKS)
for step in range(options.steps):
    x = torch.randn(64, 256, device="cuda")  # step
    if step % 5 == 0 and to_come:
        multi.join(to_come.pop(0))
    multi.step(x)
