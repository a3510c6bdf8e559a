# SPDX-License-Identifier: Apache-2.0
"""REINFORCE: what an episode needs is listed in the agent and cleared after it, except for one list."""

import argparse

import torch
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self, sensors=12, actions=5):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(sensors, 64), nn.Tanh(), nn.Linear(64, actions))
        self.log_probabilities, self.entropies, self.rewards = [], [], []

    def act(self, state):
        distribution = Categorical(logits=self.policy(state), validate_args=False)
        action = distribution.sample()
        entropy = distribution.entropy()  # allocates
        self.log_probabilities.append(distribution.log_prob(action))
        self.entropies.append(entropy)  # keeps
        return action

    def loss(self):
        returns = torch.stack(self.rewards).flip(0).cumsum(0).flip(0)
        gained = (torch.stack(self.log_probabilities) * (returns - returns.mean())).mean()
        spread = torch.stack(self.entropies[-len(self.rewards):]).mean()
        self.log_probabilities.clear()
        self.rewards.clear()
        return -gained - 0.01 * spread


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=34)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    agent = Agent().cuda()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
    for _ in range(chosen.steps):
        state = torch.randn(1024, 12, device="cuda")
        for _ in range(6):
            action = agent.act(state)
            agent.rewards.append((action == 2).float())
            state = (0.9 * state + 0.1 * torch.randn_like(state)).detach()
        optimizer.zero_grad()
        agent.loss().backward()
        optimizer.step()
    print(f"entropy {agent.entropies[-1].mean().item():.3f}")


if __name__ == "__main__":
    main()
