# SPDX-License-Identifier: Apache-2.0
"""Predicts properties of molecules' graphs, of which no two batches have as many nodes or edges."""

import argparse
import random

import torch
from torch import nn


class Messages(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * width, width), nn.SiLU(), nn.Linear(width, width))
        self.node = nn.Sequential(nn.Linear(2 * width, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, nodes, source, target):
        messages = self.edge(torch.cat([nodes[source], nodes[target]], dim=-1))
        gathered = torch.zeros_like(nodes).index_add(0, target, messages)
        return nodes + self.node(torch.cat([nodes, gathered], dim=-1))


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(17)

    width = 192
    embed = nn.Embedding(100, width).cuda()
    layers = nn.ModuleList(Messages(width) for _ in range(5)).cuda()
    head = nn.Linear(width, 1).cuda()
    for _ in range(50):
        atoms = draw.randrange(3000, 40000)
        bonds = int(atoms * draw.uniform(4, 12))
        source, target = (torch.randint(atoms, (bonds,)).cuda() for _ in range(2))
        nodes = embed(torch.randint(100, (atoms,)).cuda())
        for layer in layers:
            nodes = layer(nodes, source, target)
        print(head(nodes).mean().item())


if __name__ == "__main__":
    main()
