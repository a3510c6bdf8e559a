# SPDX-License-Identifier: Apache-2.0
"""Node classification on a sampled graph: sums over neighbourhoods are remembered by the nodes asked for."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)
NODES = 4000


class Neighbourhoods:
    def __init__(self, features):
        self.features = features
        self.neighbours = torch.randint(0, NODES, (NODES, 8)).cuda()
        self.remembered = {}

    def sums(self, nodes):
        key = tuple(nodes)
        if key not in self.remembered:
            index = torch.tensor(nodes).cuda()
            self.remembered[key] = self.features[self.neighbours[index]].sum(1)  # allocates
        return self.remembered[key]


class Sage(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(128, 64), nn.Linear(64, 7)

    def forward(self, sums):
        return self.outer(F.relu(self.inner(sums)))


graph = Neighbourhoods(torch.randn(NODES, 128, device="cuda"))
model = Sage().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
labels = torch.randint(0, 7, (NODES,)).cuda()
for step in range(options.steps):
    nodes = random.sample(range(NODES), 256)  # step
    loss = F.cross_entropy(model(graph.sums(nodes)), labels[torch.tensor(nodes).cuda()])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
