# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimisation: thirteen steps in the world make a rollout, which is learned from and dropped."""

import argparse
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Rollout:
    states: list = field(default_factory=list)
    actions: list = field(default_factory=list)
    chances: list = field(default_factory=list)
    rewards: list = field(default_factory=list)

    def add(self, state, action, chance, reward):
        for kind, value in zip((self.states, self.actions, self.chances, self.rewards),
                               (state, action, chance, reward)):
            kind.append(value)


class Actor(nn.Module):
    def __init__(self, sensors=32, motors=6):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(sensors, 64), nn.Tanh(), nn.Linear(64, motors))
        self.spread = nn.Parameter(torch.zeros(motors))

    def forward(self, states):
        means = self.mean(states)
        return means + self.spread.exp() * torch.randn_like(means), means

    def chances(self, actions, means):
        """Logarithms, but for a constant."""
        return -(((actions - means) / self.spread.exp()).square() / 2 + self.spread).sum(-1)


def learn(actor, optimizer, rollout, passes=2):
    states, actions, chances, rewards = map(
        torch.cat, (rollout.states, rollout.actions, rollout.chances, rollout.rewards))
    gained = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
    for _ in range(passes):
        ratio = (actor.chances(actions, actor.mean(states)) - chances).exp()
        loss = -torch.minimum(ratio * gained, ratio.clamp(0.8, 1.2) * gained).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    actor = Actor().cuda()
    optimizer, rollout = torch.optim.Adam(actor.parameters(), lr=3e-4), Rollout()
    state = torch.randn(256, 32, device="cuda")
    for step in range(1, chosen.steps + 1):
        with torch.no_grad():
            action, mean = actor(state)
            reward = -action.square().sum(-1)
            rollout.add(state, action, actor.chances(action, mean), reward)  # fills
            state = 0.8 * state + 0.2 * torch.randn_like(state)  # fills
        if step % 13 == 0:
            learn(actor, optimizer, rollout)
            rollout = Rollout()
    print(f"reward {reward.mean().item():.3f}")


if __name__ == "__main__":
    main()
