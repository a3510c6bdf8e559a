# SPDX-License-Identifier: Apache-2.0
"""A small classifier with AdamW, whose moments appear with the first step."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(
        nn.Linear(784, 1024), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(1024, 1024), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(1024, 10),
    ).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, chosen.steps)
    for step in range(chosen.steps):
        pictures = torch.randn(128, 784).cuda()
        labels = torch.randint(10, (128,)).cuda()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(pictures), labels)
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
