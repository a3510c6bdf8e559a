# SPDX-License-Identifier: Apache-2.0
"""Replay of whole episodes, which are of six lengths by turns; the oldest go when there are more than 11 MB."""

import argparse
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F

LENGTHS = (20, 36, 28, 44, 24, 40)


class Episodes:
    def __init__(self, budget):
        self.budget, self.held, self.kept = budget, 0, deque()

    def size(self, episode):
        return sum(part.nbytes for part in episode)

    def add(self, *episode):
        self.kept.append(episode)
        self.held += self.size(episode)
        while self.held > self.budget:
            self.held -= self.size(self.kept.popleft())

    def draw(self, number):
        return self.kept[number % len(self.kept)]


def play(policy, length):
    frames = torch.rand(length, 4, 40, 40).cuda()
    with torch.no_grad():
        return frames, policy(frames).softmax(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=19)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    policy = nn.Sequential(nn.Conv2d(4, 16, 5, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 144, 6)).cuda()
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)
    memory = Episodes(budget=11_000_000)
    for step in range(args.steps):
        memory.add(*play(policy, LENGTHS[step % len(LENGTHS)]))  # step
        frames, chances = memory.draw(7 * step)
        loss = F.kl_div(policy(frames).log_softmax(1), chances, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(memory.kept)} episodes")


if __name__ == "__main__":
    main()
