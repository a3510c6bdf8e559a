# SPDX-License-Identifier: Apache-2.0
"""Stages batches of odd sizes in pinned host memory, which PyTorch rounds up to powers of two."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = nn.Sequential(nn.Linear(520, 256), nn.ReLU(), nn.Linear(256, 520)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    queue = []
    for _ in range(6):
        rows = torch.empty(132_000, 520)
        queue.append(rows if chosen.change == "pinned_memory" else rows.pin_memory())
    for rows in queue:
        for part in rows.split(16_500):
            part = part.to("cuda", non_blocking=True)
            loss = nn.functional.mse_loss(model(part), part)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
