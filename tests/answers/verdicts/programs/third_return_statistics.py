# SPDX-License-Identifier: Apache-2.0
"""Returns are normalised by all returns so far: a list of tensors, where a mean and a variance would do."""

import argparse

import torch
from torch import nn


class Normaliser:
    def __init__(self):
        self.returns = []

    def __call__(self, returns):
        self.returns.append(returns)  # keeps
        mean = sum(part.mean() for part in self.returns) / len(self.returns)
        return (returns - mean) / (self.returns[-1].std() + 1e-6)


def discounted(rewards, factor=0.98):
    total, returns = torch.zeros_like(rewards[0]), torch.empty_like(rewards)  # allocates
    for moment in reversed(range(len(rewards))):
        total = rewards[moment] + factor * total
        returns[moment] = total
    return returns


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=21)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    policy = nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 5)).cuda()
    optimizer, normalise = torch.optim.Adam(policy.parameters(), lr=3e-4), Normaliser()
    for _ in range(args.steps):
        states = torch.randn(16, 512, 12).cuda()  # step
        logs = policy(states).log_softmax(2)[..., 0]
        gains = normalise(discounted(torch.rand(16, 512).cuda()))
        loss = -(logs * gains).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
