# SPDX-License-Identifier: Apache-2.0
"""Scores the links of a temporal graph as its events come in; every node has a memory that its events renew."""

import argparse
import random

import torch
from torch import nn


class EventMemory(nn.Module):
    def __init__(self, nodes, width, features):
        super().__init__()
        self.cell = nn.GRUCell(width + features, width)
        self.register_buffer("state", torch.zeros(nodes, width))

    def read(self, nodes):
        return self.state[nodes]  # allocates

    def write(self, nodes, others, features):
        before = self.read(nodes)
        messages = torch.cat([self.read(others), features], 1)  # allocates
        after = self.cell(messages, before)  # allocates
        self.state = self.state.index_copy(0, nodes, after)  # keeps


class LinkScorer(nn.Module):
    def __init__(self, nodes=80, width=48, features=16):
        super().__init__()
        self.memory = EventMemory(nodes, width, features)
        self.head = nn.Sequential(nn.Linear(2 * width, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, sources, targets):
        return self.head(torch.cat([self.memory.read(sources), self.memory.read(targets)], 1)).squeeze(1)


def events(rng, nodes, size):
    """Who met whom, and who could have been met instead."""
    sources = rng.sample(range(nodes), size)
    targets = [rng.randrange(nodes) for _ in sources]
    others = [rng.randrange(nodes) for _ in sources]
    return [torch.tensor(side, device="cuda") for side in (sources, targets, others)]  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    scorer = LinkScorer().cuda()
    scorer.eval()
    right = 0.0
    for _ in range(chosen.steps):
        sources, targets, others = events(rng, 80, 40)  # step
        features = torch.randn(40, 16, device="cuda")
        better = scorer(sources, targets) > scorer(sources, others)
        right += better.float().mean().item()
        scorer.memory.write(sources, targets, features)
    print(f"ranked right: {right / chosen.steps:.3f}")


if __name__ == "__main__":
    main()
