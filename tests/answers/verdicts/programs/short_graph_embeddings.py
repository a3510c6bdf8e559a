# SPDX-License-Identifier: Apache-2.0
"""A graph convolution network on one graph; how its nodes move is to be drawn as a film."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class GraphNetwork(nn.Module):
    def __init__(self, inward, width, classes):
        super().__init__()
        self.first, self.second = nn.Linear(inward, width), nn.Linear(width, classes)

    def forward(self, nodes, neighbours):
        hidden = torch.relu(neighbours @ self.first(nodes))  # allocates
        return hidden, neighbours @ self.second(hidden)


def normalised(edges):
    edges = edges.maximum(edges.T).fill_diagonal_(1)
    root = edges.sum(1).rsqrt()
    return root[:, None] * edges * root


def fit(model, nodes, neighbours, labels, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    positions = []
    for _ in range(epochs):
        hidden, logits = model(nodes, neighbours)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        positions.append(hidden.detach())  # keeps
    return positions


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    neighbours = normalised((torch.rand(320, 320) < 0.02).float()).cuda()
    nodes, labels = torch.randn(320, 64).cuda(), torch.randint(7, (320,)).cuda()
    positions = fit(GraphNetwork(64, 48, 7).cuda(), nodes, neighbours, labels, chosen.steps)
    moved = (positions[-1] - positions[0]).norm(dim=1).mean().item()
    print(f"{len(positions)} pictures, nodes moved by {moved:.3f}")


if __name__ == "__main__":
    main()
