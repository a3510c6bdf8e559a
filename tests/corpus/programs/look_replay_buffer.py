# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning with a replay buffer on the GPU, allocated at the start."""

import argparse
import random

import torch
from torch import nn


class Replay:
    def __init__(self, capacity, width):
        self.states = torch.zeros(capacity, width, device="cuda")
        self.rewards = torch.zeros(capacity, device="cuda")
        self.actions = torch.zeros(capacity, dtype=torch.long, device="cuda")
        self.capacity, self.seen = capacity, 0

    def add(self, state, action, reward):
        at = self.seen % self.capacity
        self.states[at], self.actions[at], self.rewards[at] = state, action, reward
        self.seen += 1

    def sample(self, count, rng):
        at = torch.tensor([rng.randrange(min(self.seen, self.capacity)) for _ in range(count)], device="cuda")
        return self.states[at], self.actions[at], self.rewards[at]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    policy = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4)).cuda()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    replay = Replay(50_000, 64)
    for step in range(chosen.steps):
        for _ in range(4):
            state = torch.randn(64, device="cuda")
            with torch.no_grad():
                action = policy(state).argmax()
            replay.add(state, action, rng.random())
        states, actions, rewards = replay.sample(128, rng)
        chosen_values = policy(states).gather(1, actions[:, None])[:, 0]
        loss = nn.functional.smooth_l1_loss(chosen_values, rewards)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
