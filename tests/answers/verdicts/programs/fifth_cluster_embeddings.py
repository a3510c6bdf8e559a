# SPDX-License-Identifier: Apache-2.0
"""A graph network in clusters; for links between clusters the other end's embedding is what it was last time."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Clusters:
    """A graph's nodes in parts of equal size, in another order each epoch."""

    def __init__(self, count, nodes, features):
        self.count = count
        self.features = [torch.randn(nodes, features) for _ in range(count)]
        self.links = [(torch.rand(nodes, nodes) < 0.05).float() for _ in range(count)]
        self.neighbours = [((part + 1) % count, (part + 5) % count) for part in range(count)]

    def __iter__(self):
        while True:
            yield from torch.randperm(self.count).tolist()


class HistoricalNetwork(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.one, self.two = nn.Linear(features, hidden), nn.Linear(2 * hidden, classes)
        self.history = {}

    def forward(self, part, links, x, neighbours):
        hidden = F.relu(links @ self.one(x))
        known = [self.history[other].mean(0) for other in neighbours if other in self.history]
        outside = torch.stack(known).mean(0) if known else torch.zeros_like(hidden[0])
        self.history[part] = hidden.detach()
        return self.two(torch.cat([hidden, outside.expand_as(hidden)], 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    graph = Clusters(count=22, nodes=128, features=48)
    model = HistoricalNetwork(48, 128, 9).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    parts = iter(graph)
    for _ in range(args.steps):
        part = next(parts)  # step
        scores = model(part, graph.links[part].cuda(), graph.features[part].cuda(), graph.neighbours[part])
        loss = F.cross_entropy(scores, torch.randint(9, (128,)).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
