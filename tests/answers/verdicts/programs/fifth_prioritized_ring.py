# SPDX-License-Identifier: Apache-2.0
"""Reinforcement learning with prioritized replay: a list that is overwritten from its beginning once it is full."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn


class PrioritizedReplay:
    def __init__(self, capacity, alpha=0.6):
        self.capacity, self.alpha = capacity, alpha
        self.storage, self.priorities = [], []
        self.next_index = 0

    def add(self, transition):
        if self.next_index >= len(self.storage):
            self.storage.append(transition)
            self.priorities.append(1.0)
        else:
            self.storage[self.next_index] = transition
            self.priorities[self.next_index] = 1.0
        self.next_index = (self.next_index + 1) % self.capacity

    def sample(self, count):
        chances = [priority ** self.alpha for priority in self.priorities]
        places = random.choices(range(len(self.storage)), chances, k=count)
        return places, [self.storage[place] for place in places]

    def update(self, places):
        for place in places:
            self.priorities[place] = 0.1 + random.random()


class Critic(nn.Module):
    def __init__(self, observed=192, actions=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(observed + actions, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, state, action):
        return self.net(torch.cat([state, action], 1))[:, 0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--buffer-size", type=int, default=80)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    replay, critic = PrioritizedReplay(args.buffer_size), Critic().cuda()
    optimizer = torch.optim.Adam(critic.parameters(), lr=3e-4)
    for _ in range(args.steps):
        state, action = torch.randn(64, 192).cuda(), torch.rand(64, 6).cuda()  # step
        replay.add((state, action, torch.rand(64).cuda()))
        places, transitions = replay.sample(3)
        loss = sum(F.mse_loss(critic(s, a), reward) for s, a, reward in transitions)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        replay.update(places)


if __name__ == "__main__":
    main()
