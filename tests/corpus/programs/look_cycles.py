# SPDX-License-Identifier: Apache-2.0
"""Parse trees whose nodes know their parents: reference cycles, freed when gc comes round."""

import argparse
import random

import torch
from torch import nn


class Node:
    def __init__(self, parent, depth, rng):
        self.parent = parent
        self.children = [Node(self, depth - 1, rng) for _ in range(rng.randrange(2, 4))] if depth else []
        self.state = None


class TreeNetwork(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.leaf = nn.Parameter(torch.randn(16, width))
        self.join = nn.Linear(width, width)

    def forward(self, node):
        if node.children:
            node.state = torch.tanh(self.join(sum(self(child) for child in node.children)))  # fills
        else:
            node.state = self.leaf * 1.0  # fills
        return node.state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = TreeNetwork().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(chosen.steps):
        tree = Node(None, 3, rng)
        loss = model(tree).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
