# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimization; segments of seven moves of 64 environments are collected, used and dropped."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Rollouts:
    def __init__(self):
        self.clear()

    def clear(self):
        self.states, self.actions, self.old, self.rewards = [], [], [], []

    def add(self, state, action, old, reward):
        self.states.append(state)
        self.actions.append(action)
        self.old.append(old)
        self.rewards.append(reward)

    def __len__(self):
        return len(self.states)


class Ppo:
    def __init__(self, observed=300, actions=6, horizon=7):
        self.horizon = horizon
        self.policy = nn.Sequential(nn.Linear(observed, 128), nn.Tanh(), nn.Linear(128, actions)).cuda()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-4)
        self.rollouts = Rollouts()

    @torch.no_grad()
    def act(self, state):
        chances = F.log_softmax(self.policy(state), 1)
        action = torch.multinomial(chances.exp() + 1, 1)
        return action, chances.gather(1, action)

    def update(self, epochs=2, clip=0.2):
        states, actions = torch.cat(self.rollouts.states), torch.cat(self.rollouts.actions)
        old, rewards = torch.cat(self.rollouts.old), torch.cat(self.rollouts.rewards)
        for _ in range(epochs):
            ratio = (F.log_softmax(self.policy(states), 1).gather(1, actions) - old).exp()[:, 0]
            loss = -torch.minimum(ratio * rewards, ratio.clamp(1 - clip, 1 + clip) * rewards).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.rollouts.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    agent = Ppo()
    for _ in range(args.steps):
        seen = torch.randn(64, 300)  # step
        state = seen.cuda()  # fills
        action, old = agent.act(state)
        agent.rollouts.add(state, action, old, torch.rand(64).cuda())
        if len(agent.rollouts) == agent.horizon:
            agent.update()


if __name__ == "__main__":
    main()
