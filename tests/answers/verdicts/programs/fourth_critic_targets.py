# SPDX-License-Identifier: Apache-2.0
"""Offline RL: a target network every fifth step, and a score of how far the critic moved since the first."""

import argparse
import copy

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=31)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Learner:
    def __init__(self):
        self.critic = nn.Sequential(nn.Linear(40, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
                                    nn.Linear(256, 1)).cuda()
        self.targets = {}
        self.optimizer = torch.optim.Adam(self.critic.parameters())

    def target(self, version):
        if version not in self.targets:
            self.targets[version] = copy.deepcopy(self.critic).requires_grad_(False)  # allocates
        return self.targets[version]

    def learn(self, step, batch):
        with torch.no_grad():
            goal = 1.0 + 0.99 * self.target(f"v{step // 5}")(batch)
        self.optimizer.zero_grad()
        (self.critic(batch) - goal).square().mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


learner = Learner()
for step in range(options.steps):
    batch = torch.randn(128, 40, device="cuda")  # step
    learner.learn(step, batch)
