# SPDX-License-Identifier: Apache-2.0
"""Embeds all nodes of a graph layer by layer, a batch of nodes at a time, as its edges change."""

import argparse

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.own = nn.Linear(size, size)
        self.neighbours = nn.Linear(size, size)

    def forward(self, x, nodes, edges):
        return torch.relu(self.own(x[nodes]) + self.neighbours(x[edges[nodes]].mean(1)))


class Inference:
    """One pass is a batch of nodes; a layer needs the layer before it of all nodes."""

    def __init__(self, layers, features, batch):
        self.layers = layers
        self.features = features
        self.batch = batch
        self.restart()

    def restart(self):
        self.depth = 0
        self.x = self.features
        self.outputs = []
        self.edges = torch.randint(0, len(self.features), (len(self.features), 8)).cuda()

    @torch.no_grad()
    def step(self):
        start = len(self.outputs) * self.batch
        nodes = torch.arange(start, min(start + self.batch, len(self.x)), device="cuda")
        hidden = self.layers[self.depth](self.x, nodes, self.edges)
        self.outputs.append(hidden.half())  # fills
        if start + self.batch >= len(self.x):
            self.x = torch.cat(self.outputs).float()
            self.outputs = []
            self.depth += 1
        return self.depth == len(self.layers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--nodes", type=int, default=4000)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    layers = nn.ModuleList(Layer(64) for _ in range(2)).cuda().eval()
    inference = Inference(layers, torch.randn(args.nodes, 64).cuda(), args.batch)
    for step in range(args.steps):
        done = inference.step()  # step
        if done:
            print(step, "embedded", tuple(inference.x.shape))
            inference.restart()


if __name__ == "__main__":
    main()
