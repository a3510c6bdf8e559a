# SPDX-License-Identifier: Apache-2.0
"""PPO with a recurrent policy: five moves of 64 environments, then an update."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=24)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
HORIZON = 5


class Rollouts:
    def __init__(self):
        self.observations, self.states, self.returns = [], [], []

    def add(self, observation, state, reward):
        self.observations.append(observation)
        self.states.append(state)  # keeps
        self.returns.append(reward)

    def recent(self):
        return torch.stack(self.observations), torch.stack(self.states[-HORIZON:]), torch.stack(self.returns)

    def clear(self):
        self.observations.clear()
        self.returns.clear()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.value = nn.GRUCell(32, 256), nn.Linear(256, 1)

    def forward(self, observation, state):
        state = self.cell(observation, state)  # allocates
        return self.value(state), state


policy, rollouts = Policy().cuda(), Rollouts()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
state = torch.zeros(64, 256, device="cuda")
for step in range(options.steps):
    observation = torch.randn(64, 32, device="cuda")  # step
    with torch.no_grad():
        _, state = policy(observation, state)
    rollouts.add(observation, state, torch.randn(64, 1, device="cuda"))
    if step % HORIZON == HORIZON - 1:
        observations, states, returns = rollouts.recent()
        for _ in range(2):
            value, _ = policy(observations.flatten(0, 1), states.flatten(0, 1))
            optimizer.zero_grad()
            (value - returns.flatten(0, 1)).square().mean().backward()
            optimizer.step()
        rollouts.clear()
