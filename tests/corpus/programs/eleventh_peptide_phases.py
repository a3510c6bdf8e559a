# SPDX-License-Identifier: Apache-2.0
"""Transfers a graph network to peptides in phases, each with more of its layers and with an optimizer of its own."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class PeptideNet(nn.Module):
    def __init__(self, features=32, width=160):
        super().__init__()
        self.gnn = nn.ModuleList(nn.Linear(a, width) for a in (features, width, width, width))
        self.readout = nn.Sequential(nn.Linear(width, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 128), nn.ReLU())
        self.final = nn.Linear(128, 1)

    def forward(self, nodes, adjacency):
        for layer in self.gnn:
            nodes = torch.tanh(adjacency @ layer(nodes))
        return self.final(self.readout(nodes.mean(1)))

    def groups(self):
        return [list(part.parameters()) for part in (self.final, self.readout, self.gnn)]


def phases(model):
    """First the final layer, then the readout with it, at last all; slower each time."""
    groups = model.groups()
    for group in groups:
        for parameter in group:
            parameter.requires_grad_(False)
    for number, rate in enumerate((1e-3, 1e-4, 1e-5)):
        for parameter in groups[number]:
            parameter.requires_grad_(True)
        trained = [parameter for group in groups[:number + 1] for parameter in group]
        yield number + 1, torch.optim.Adam(trained, lr=rate)


def peptides(rows=16, length=24, features=32):
    nodes = torch.randn(rows, length, features, device="cuda")
    adjacency = torch.eye(length, device="cuda").expand(rows, length, length)
    return nodes, adjacency, torch.ones(rows, 1, device="cuda")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--per-phase", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = PeptideNet().cuda().train()
    schedule = phases(model)
    for step in range(chosen.steps):
        nodes, adjacency, active = peptides()  # step
        if step % chosen.per_phase == 0 and step // chosen.per_phase < 3:
            phase, optimizer = next(schedule)
        loss = F.binary_cross_entropy_with_logits(model(nodes, adjacency), active)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"phase {phase}, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
