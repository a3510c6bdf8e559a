# SPDX-License-Identifier: Apache-2.0
"""Runs an interatomic potential over a list of structures and writes energies and forces of all of them."""

import argparse
import random

import torch
from torch import nn

ATOMS, EDGES = 64, 512


class Potential(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(8, width)
        self.radial = nn.Linear(1, width)
        self.message = nn.Linear(width, width)
        self.readout = nn.Linear(width, 1)

    def forward(self, data):
        positions = data["pos"].requires_grad_(True)
        source, target = data["edge_index"]
        data["edge_vec"] = positions[source] - positions[target]  # allocates
        length = data["edge_vec"].square().sum(1, keepdim=True)
        nodes = self.embed(data["x"])
        messages = torch.tanh(self.radial(length)) * nodes[source]
        gathered = torch.zeros_like(nodes).index_add(0, target, messages)
        data["node_feature"] = torch.tanh(self.message(gathered))  # allocates
        data["atomic_energy"] = self.readout(data["node_feature"])  # allocates
        data["total_energy"] = data["atomic_energy"].sum()  # allocates
        data["forces"] = -torch.autograd.grad(data["total_energy"], positions)[0]  # allocates
        return data


def structures(number, seed):
    chance = random.Random(seed)
    for _ in range(number):
        edges = [[chance.randrange(ATOMS) for _ in range(EDGES)] for _ in range(2)]
        yield {"pos": torch.rand(ATOMS, 3), "x": torch.randint(8, (ATOMS,)), "edge_index": torch.tensor(edges)}


def inference(model, loader):
    model.eval()
    outputs = []
    for structure in loader:
        number = len(structure["x"])  # step
        data = {key: value.to("cuda") for key, value in structure.items()}  # allocates
        output = model(data)
        output["num_atoms"] = number
        outputs.append(output)  # keeps
    return outputs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Potential().cuda()
    outputs = inference(model, structures(chosen.steps, chosen.seed))
    for output in outputs:
        print(output["num_atoms"], f"{output['total_energy'].item():.4f}", tuple(output["forces"].shape))


if __name__ == "__main__":
    main()
