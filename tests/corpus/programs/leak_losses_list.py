# SPDX-License-Identifier: Apache-2.0
"""Trains a regression and keeps each step's loss for a plot at the end."""

import argparse

import torch
from torch import nn


def fit(model, optimizer, steps):
    losses = []
    for step in range(steps):
        rows = torch.randn(32, 16, device="cuda")
        optimizer.zero_grad()
        error = model(rows) - rows.sum(1, keepdim=True)
        loss = error.square().mean()  # allocates
        loss.backward()
        optimizer.step()
        losses.append(loss)  # keeps
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    losses = fit(model, optimizer, chosen.steps)
    print("first and last:", losses[0].item(), losses[-1].item())


if __name__ == "__main__":
    main()
