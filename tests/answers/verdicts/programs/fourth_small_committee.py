# SPDX-License-Identifier: Apache-2.0
"""The last four models that were trained from scratch, four steps each, vote on what to label."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=34)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


def fresh():
    return nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 40)).cuda()


class Committee:
    def __init__(self, seats):
        self.seats, self.members = seats, []

    def join(self, model):
        self.members.append(model.requires_grad_(False))
        if len(self.members) > self.seats:
            self.members.pop(0)

    @torch.no_grad()
    def votes(self, x):
        return torch.stack([member(x).softmax(-1) for member in self.members]).mean(0)


committee, model = Committee(seats=4), fresh()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(options.steps):
    x = torch.randn(64, 64, device="cuda")  # step
    optimizer.zero_grad()
    F.cross_entropy(model(x), torch.zeros(64, dtype=torch.long, device="cuda")).backward()
    optimizer.step()
    if step % 4 == 3:
        optimizer.zero_grad()
        committee.join(model)
        committee.votes(torch.randn(128, 64, device="cuda"))
        model = fresh()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
