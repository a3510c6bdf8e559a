# SPDX-License-Identifier: Apache-2.0
"""Trains a network with a cyclic learning rate, copies it at the end of each cycle, then predicts with the copies."""

import argparse
import math
from copy import deepcopy

import torch
from torch import nn
from torch.nn import functional

CYCLE = 6


class Network(nn.Module):
    """A classifier with its optimizer."""

    def __init__(self, inputs=64, classes=8):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 160), nn.ReLU(), nn.Linear(160, 96), nn.ReLU(),
                                    nn.Linear(96, classes))
        self.cuda()
        self.optim = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)

    def fit_batch(self, rows, labels, rate):
        self.optim.param_groups[0]["lr"] = rate
        self.optim.zero_grad()
        loss = functional.cross_entropy(self.layers(rows), labels)
        loss.backward()
        self.optim.step()

    @torch.no_grad()
    def forward_pass(self, rows):
        return self.layers(rows).softmax(1).cpu()


class SnapshotNet:
    def __init__(self, name, template_network, n_snapshots=5):
        self.name, self.n_snapshots = name, n_snapshots
        self.template_network = deepcopy(template_network)
        self.snapshot_networks = {}
        self.batches = 0

    @property
    def fitted(self):
        return len(self.snapshot_networks) == self.n_snapshots

    def fit_batch(self, rows, labels):
        rate = 0.05 * (1 + math.cos(math.pi * (self.batches % CYCLE) / CYCLE))
        self.template_network.fit_batch(rows, labels, rate)
        self.batches += 1
        if self.batches % CYCLE == 0:
            snap_name = f"{self.name}_{len(self.snapshot_networks)}"
            self.snapshot_networks[snap_name] = deepcopy(self.template_network)

    def forward_pass(self, rows):
        return torch.stack([network.forward_pass(rows) for network in self.snapshot_networks.values()]).mean(0)


def one_batch(ensemble):
    rows = torch.randn(32, 64, device="cuda")
    if ensemble.fitted:
        return ensemble.forward_pass(rows)
    return ensemble.fit_batch(rows, torch.zeros(32, dtype=torch.long, device="cuda"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18, help="batches")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    ensemble = SnapshotNet("snap", Network())
    for batch in range(chosen.steps):
        number = batch + 1  # step
        one_batch(ensemble)
    print(number, "batches,", len(ensemble.snapshot_networks), "networks")


if __name__ == "__main__":
    main()
