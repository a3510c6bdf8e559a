# SPDX-License-Identifier: Apache-2.0
"""A graph network on a fixed graph; how fast its nodes' embeddings drift is measured after each epoch."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, adjacency, x):
        return adjacency @ self.linear(x)


class Network(nn.Module):
    def __init__(self, inputs=64, hidden=128, classes=7):
        super().__init__()
        self.first, self.second = GraphConvolution(inputs, hidden), GraphConvolution(hidden, hidden)
        self.classify = nn.Linear(hidden, classes)

    def forward(self, adjacency, x):
        one = F.relu(self.first(adjacency, x))  # allocates
        two = F.relu(self.second(adjacency, one))  # allocates
        return self.classify(two), [one, two]


class Drift:
    def __init__(self):
        self.versions = []

    def add(self, embeddings):
        self.versions.append([one.detach() for one in embeddings])  # keeps
        if len(self.versions) < 2:
            return 0.0
        before, now = self.versions[-2:]
        return sum(float((a - b).norm()) for a, b in zip(before, now))


def normalized(adjacency):
    adjacency = adjacency + torch.eye(len(adjacency))
    scale = adjacency.sum(1).rsqrt()
    return scale[:, None] * adjacency * scale


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    nodes = 256
    links = (torch.rand(nodes, nodes) < 0.02).float()
    adjacency = normalized(((links + links.T) > 0).float()).cuda()
    features, labels = torch.randn(nodes, 64).cuda(), torch.randint(7, (nodes,)).cuda()
    model, drift = Network().cuda(), Drift()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(args.steps):
        optimizer.zero_grad()  # step
        logits, embeddings = model(adjacency, features)
        F.cross_entropy(logits, labels).backward()
        optimizer.step()
        print(epoch, drift.add(embeddings))


if __name__ == "__main__":
    main()
