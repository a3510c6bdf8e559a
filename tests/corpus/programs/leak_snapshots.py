# SPDX-License-Identifier: Apache-2.0
"""Snapshots for an ensemble: the weights of each epoch's end stay on the GPU."""

import argparse
import copy

import torch
from torch import nn


def train_epoch(model, optimizer, steps):
    for _ in range(steps):
        rows = torch.randn(32, 48, device="cuda")
        optimizer.zero_grad()
        (model(rows) - rows).square().mean().backward()
        optimizer.step()


def fit(model, epochs, epoch_steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    snapshots = []
    for epoch in range(epochs):
        train_epoch(model, optimizer, epoch_steps)
        snapshots.append(copy.deepcopy(model.state_dict()))  # allocates
    return snapshots


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epoch", type=int, default=10, help="steps of one")
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(48, 128), nn.GELU(), nn.Linear(128, 48)).cuda()
    snapshots = fit(model, chosen.steps // chosen.epoch, chosen.epoch)
    print(len(snapshots), "snapshots")


if __name__ == "__main__":
    main()
