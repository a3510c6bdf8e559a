# SPDX-License-Identifier: Apache-2.0
"""Boosting: every fifth step adds a learner for what the others leave, until there are eight."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=47)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Boosted(nn.Module):
    def __init__(self, most):
        super().__init__()
        self.most, self.learners = most, nn.ModuleList()

    def add(self):
        for learner in self.learners:
            learner.requires_grad_(False)
            learner.zero_grad()
        self.learners.append(nn.Sequential(nn.Linear(100, 600), nn.ReLU(), nn.Linear(600, 100)).cuda())

    def forward(self, x):
        return sum(learner(x) for learner in self.learners)


boosted, optimizer = Boosted(most=8), None
for step in range(options.steps):
    x = torch.randn(64, 100, device="cuda")  # step
    if step % 5 == 0 and len(boosted.learners) < boosted.most:
        boosted.add()
        optimizer = torch.optim.SGD(boosted.learners[-1].parameters(), lr=0.1)
    optimizer.zero_grad()
    (boosted(x) - x).square().mean().backward()
    optimizer.step()
