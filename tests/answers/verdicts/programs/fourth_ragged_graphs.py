# SPDX-License-Identifier: Apache-2.0
"""Graphs of molecules, batched as they come: five sizes of batch, and what was computed last stays around."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
ATOMS = (310, 1290, 640, 2210, 870)


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.own, self.others = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, source, target):
        gathered = torch.zeros_like(x).index_add(0, target, self.others(x)[source])
        return torch.relu(self.own(x) + gathered)


layers = nn.ModuleList(Layer(96) for _ in range(3)).cuda()
optimizer = torch.optim.Adam(layers.parameters())
for step in range(options.steps):
    atoms = ATOMS[step % len(ATOMS)]  # step
    x = torch.randn(atoms, 96, device="cuda")
    source, target = torch.randint(0, atoms, (2, 4 * atoms)).cuda()
    for layer in layers:
        x = layer(x, source, target)
    energy = x.sum(-1)
    optimizer.zero_grad()
    energy.square().mean().backward()
    optimizer.step()
