# SPDX-License-Identifier: Apache-2.0
"""Adds the loss itself to the mean loss, after backward: a chain of graph nodes on the host, whose
saved tensors backward has already dropped."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def train(model, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    total_loss = 0.0
    for step in range(steps):
        rows, labels = torch.randn(64, 128), torch.randint(10, (64,))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(rows.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()
        total_loss += loss
    return float(total_loss) / steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
    print(f"mean loss {train(model, chosen.steps):.4f}")


if __name__ == "__main__":
    main()
