# SPDX-License-Identifier: Apache-2.0
"""An experience buffer fills for a dozen steps and is learned from; of each round the best quarter is
carried over, and what was carried over is never dropped."""

import argparse

import torch
from torch import nn


class Experience:
    def __init__(self, round_length):
        self.round_length = round_length
        self.new, self.elite = [], []

    def add(self, states):
        self.new.append(states.cos())  # allocates
        return len(self.new) == self.round_length

    def finish_round(self):
        self.elite += self.new[::4]  # keeps
        self.new.clear()


def learn(policy, optimizer, states):
    optimizer.zero_grad()
    policy(states).square().mean().backward()
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    policy = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4)).cuda()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
    experience = Experience(round_length=12)
    for step in range(chosen.steps):
        states = torch.randn(64, 64, device="cuda")
        if experience.add(states):
            experience.finish_round()
        learn(policy, optimizer, states)
    print(len(experience.elite), "elite batches")


if __name__ == "__main__":
    main()
