# SPDX-License-Identifier: Apache-2.0
"""A hook that was registered to look at activations once stores those of every step."""

import argparse

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.middle = nn.Conv2d(8, 8, 3, padding=1)
        self.head = nn.Linear(8, 5)

    def forward(self, pictures):
        features = torch.relu(self.stem(pictures))
        features = self.middle(features)  # allocates
        return self.head(torch.relu(features).mean((2, 3)))


class ActivationRecorder:
    def __init__(self):
        self.activations = {}

    def watch(self, name, module):
        self.activations[name] = []
        module.register_forward_hook(lambda _, inputs, output: self.record(name, output))

    def record(self, name, output):
        self.activations[name].append(output.detach())  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    network = Network().cuda()
    recorder = ActivationRecorder()
    recorder.watch("middle", network.middle)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for step in range(chosen.steps):
        optimizer.zero_grad()
        network(torch.randn(8, 3, 16, 16, device="cuda")).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
