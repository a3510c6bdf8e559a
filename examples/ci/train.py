# SPDX-License-Identifier: Apache-2.0
"""Trains a small classifier of pictures: an ordinary script that knows nothing of memtrace."""

import torch
from torch import nn

BATCH = 64
STEPS = 12


def make_model() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64 * 16, 10),
    ).cuda()


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: int = BATCH) -> None:
    pictures = torch.randn(batch, 3, 64, 64, device="cuda")
    classes = torch.randint(10, (batch,), device="cuda")
    loss = nn.functional.cross_entropy(model(pictures), classes)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def main() -> None:
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        train_step(model, optimizer)


if __name__ == "__main__":
    main()
