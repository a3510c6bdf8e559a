# SPDX-License-Identifier: Apache-2.0
"""Averages the model's outputs over the last steps, in a deque whose maxlen was forgotten."""

import argparse
from collections import deque

import torch
from torch import nn


class MovingAverage:
    def __init__(self, window):
        self.window = window
        self.recent = deque()

    def __call__(self, values):
        self.recent.append(values)  # keeps
        newest = [self.recent[-1 - index] for index in range(min(self.window, len(self.recent)))]
        return torch.stack(newest).mean(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    policy = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 12)).cuda()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
    baseline = MovingAverage(window=16)
    for step in range(chosen.steps):
        states = torch.randn(64, 24, device="cuda")
        rewards = torch.randn(64, 12).cuda()
        advantage = rewards - baseline(rewards.square().sqrt())  # allocates
        loss = -(policy(states).log_softmax(-1) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
