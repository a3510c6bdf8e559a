# SPDX-License-Identifier: Apache-2.0
"""REINFORCE with episodes of four to twelve moves: what was done is kept with its graph until the episode is over."""

import argparse
import random

import torch
from torch import nn


class Episode:
    def __init__(self, length):
        self.length, self.chances, self.rewards = length, [], []

    def over(self):
        return len(self.rewards) == self.length

    def loss(self):
        gains = torch.stack(self.rewards).flip(0).cumsum(0).flip(0)
        return -(torch.stack(self.chances) * (gains - gains.mean())).mean()


class Agent(nn.Module):
    def __init__(self, sensors=80, moves=5):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(sensors, 160), nn.ReLU(), nn.Linear(160, moves))

    def act(self, state):
        wishes = self.body(state).log_softmax(1)  # fills
        return wishes.amax(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng, agent, played = random.Random(args.seed), Agent().cuda(), 0
    optimizer, episode = torch.optim.Adam(agent.parameters(), lr=1e-3), Episode(8)
    for step in range(args.steps):
        state = torch.randn(96, 80).cuda()  # step
        episode.chances.append(agent.act(state))
        episode.rewards.append(state.mean(1))
        if episode.over():
            optimizer.zero_grad()
            episode.loss().backward()
            optimizer.step()
            episode, played = Episode(rng.randint(4, 12)), played + 1
    print(f"{played} episodes")


if __name__ == "__main__":
    main()
