# SPDX-License-Identifier: Apache-2.0
"""A planner's tree: what lies beside the move that was made is forgotten, and what lies below it goes on."""

import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=44)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)


class Node:
    def __init__(self, state):
        self.state, self.children, self.visits = state, [], 0


class Planner:
    def __init__(self, moves=3, looks=8, deepest=4):
        self.dynamics, self.moves, self.looks = nn.Linear(1024, 1024).cuda(), moves, looks
        self.deepest, self.root = deepest, Node(torch.zeros(32, 1024, device="cuda"))

    def look(self):
        node, depth = self.root, 0
        while node.children:
            node, depth = random.choice(node.children), depth + 1
            node.visits += 1
        if depth < self.deepest:
            node.children = [Node(torch.tanh(self.dynamics(node.state))) for _ in range(self.moves)]

    @torch.no_grad()
    def move(self):
        for _ in range(self.looks):
            self.look()
        self.root = max(self.root.children, key=lambda child: child.visits)


planner = Planner()
optimizer = torch.optim.SGD(planner.dynamics.parameters(), lr=0.1)
for step in range(options.steps):
    optimizer.zero_grad()  # step
    planner.dynamics(torch.randn(64, 1024, device="cuda")).square().mean().backward()
    optimizer.step()
    planner.move()
