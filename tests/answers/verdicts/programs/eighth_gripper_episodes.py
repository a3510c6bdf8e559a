# SPDX-License-Identifier: Apache-2.0
"""REINFORCE for a gripper that is to reach a cup: the return of an attempt trains the policy."""

import argparse
import random

import torch
from torch import nn

MOVES = 14  # of an attempt
GRIPPERS = 128


class Policy(nn.Module):
    def __init__(self, observed=10, hidden=64, controls=4):
        super().__init__()
        self.hidden = nn.Linear(observed, hidden)
        self.mean = nn.Linear(hidden, controls)
        self.spread = nn.Parameter(torch.zeros(controls))

    def forward(self, observation):
        features = torch.tanh(self.hidden(observation))  # fills
        return self.mean(features), self.spread  # fills


class Table:
    """Rewards are kept on the host; what the grippers see is on the GPU."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.moves = 0

    def reset(self):
        self.moves = 0
        return torch.randn(GRIPPERS, 10, device="cuda")

    def move(self, observation, control):
        self.moves += 1
        drift = nn.functional.pad(0.1 * control, (0, 6))
        reward = self.chance.uniform(-1, 0) + self.moves / MOVES
        return observation + drift, reward, self.moves == MOVES  # fills


class Reinforce:
    def __init__(self, policy, discount=0.95):
        self.policy, self.discount = policy, discount
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
        self.log_probabilities, self.rewards = [], []

    def act(self, observation):
        mean, log_spread = self.policy(observation)
        control = mean.detach() + log_spread.detach().exp() * torch.randn_like(mean)
        scaled = (control - mean) * torch.exp(-log_spread)  # fills
        self.log_probabilities.append(-(scaled.square() / 2 + log_spread).sum(-1))  # fills
        return control

    def finish(self):
        """The end of an attempt."""
        value, returns = 0.0, []
        for reward in reversed(self.rewards):
            value = reward + self.discount * value
            returns.insert(0, value)
        loss = -sum(log.mean() * value for log, value in zip(self.log_probabilities, returns))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.log_probabilities, self.rewards = [], []
        return returns[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    agent, table = Reinforce(Policy().cuda()), Table(chosen.seed)
    observation = table.reset()
    for step in range(chosen.steps):
        control = agent.act(observation)  # step
        observation, reward, done = table.move(observation, control)
        agent.rewards.append(reward)
        if done:
            print(f"move {step}: return {agent.finish():.3f}")
            observation = table.reset()


if __name__ == "__main__":
    main()
