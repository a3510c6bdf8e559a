# SPDX-License-Identifier: Apache-2.0
"""Policy gradients on a crowd of carts: an update for each episode, from its returns."""

import argparse
import random

import torch
from torch import nn


class Carts:
    """Moves many carts at once; the host knows how long an episode lasts."""

    def __init__(self, count=96, limit=40):
        self.count, self.limit = count, limit
        self.reset()

    def reset(self):
        self.age = 0
        self.state = torch.randn(self.count, 24, device="cuda")

    def move(self, actions):
        self.age += 1
        push = (actions.float() - 1)[:, None]
        self.state = 0.95 * self.state + 0.1 * push  # fills
        reward = -self.state.square().mean(1)  # fills
        return reward, self.age == self.limit


class Policy(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Linear(24, width)
        self.head = nn.Linear(width, 3)

    def forward(self, state):
        hidden = torch.tanh(self.body(state))  # fills
        return self.head(hidden).log_softmax(1)  # fills


class Reinforce:
    def __init__(self, policy, discount=0.97):
        self.policy, self.discount = policy, discount
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
        self.chosen, self.rewards = [], []

    def act(self, state, draw):
        log = self.policy(state)
        actions = torch.full((len(state),), draw.randrange(3), device="cuda")  # fills
        self.chosen.append(log.gather(1, actions[:, None])[:, 0])  # fills
        return actions

    def learn(self):
        total, loss = 0, 0
        for log, reward in zip(reversed(self.chosen), reversed(self.rewards)):
            total = reward + self.discount * total
            loss = loss - (log * (total - total.mean())).mean()
        self.optimizer.zero_grad()
        (loss / len(self.chosen)).backward()
        self.optimizer.step()
        self.chosen, self.rewards = [], []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)
    carts, agent, episodes = Carts(), Reinforce(Policy().cuda()), 0
    for _ in range(chosen.steps):
        actions = agent.act(carts.state, draw)  # step
        reward, done = carts.move(actions)
        agent.rewards.append(reward)
        if done:
            agent.learn()
            carts.reset()
            episodes += 1
    print(f"{episodes} episodes")


if __name__ == "__main__":
    main()
