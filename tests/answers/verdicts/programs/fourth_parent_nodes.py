# SPDX-License-Identifier: Apache-2.0
"""A planner looks one move ahead, goes to the best child, and plans on from there."""

import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=38)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)


class Node:
    __slots__ = ("state", "value", "parent", "children")

    def __init__(self, state, parent=None):
        self.state, self.parent, self.children = state, parent, []
        self.value = random.random()

    def expand(self, dynamics, moves):
        for move in range(moves):
            self.children.append(Node(dynamics(self.state, move), self))

    def best(self):
        return max(self.children, key=lambda child: child.value)


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.moves, self.next = nn.Embedding(6, 256), nn.Linear(256, 256)

    def forward(self, state, move):
        return torch.tanh(self.next(state + self.moves.weight[move]))  # allocates


def play(steps):
    dynamics = Dynamics().cuda()
    optimizer = torch.optim.Adam(dynamics.parameters())
    root = Node(torch.zeros(32, 256, device="cuda"))
    for _ in range(steps):
        optimizer.zero_grad()  # step
        dynamics(torch.randn(32, 256, device="cuda"), 0).square().mean().backward()
        optimizer.step()
        with torch.no_grad():
            root.expand(dynamics, 6)
        root = root.best()  # keeps


play(options.steps)
