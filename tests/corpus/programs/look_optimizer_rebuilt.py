# SPDX-License-Identifier: Apache-2.0
"""A schedule with warm restarts that makes a new optimizer for each cycle; SGD, then Adam."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(400, 800), nn.SiLU(), nn.Linear(800, 800), nn.SiLU(), nn.Linear(800, 40)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    cycle = max(2, chosen.steps // 4)
    for step in range(chosen.steps):
        if step and step % cycle == 0:
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 / (step // cycle))
        features = torch.randn(64, 400, device="cuda")
        labels = torch.randint(40, (64,), device="cuda")
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
