# SPDX-License-Identifier: Apache-2.0
"""A logger that is handed tensors, not numbers: losses, norms and a histogram's data, of each step."""

import argparse
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Entry:
    step: int
    values: dict


@dataclass
class Logger:
    every: int = 25
    history: list = field(default_factory=list)

    def log(self, step, **values):
        self.history.append(Entry(step, values))  # keeps
        if step % self.every == 0:
            print(step, {name: f"{value.mean().item():.4f}" for name, value in values.items()})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 24)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    logger = Logger()
    for step in range(chosen.steps):
        rows = torch.randn(128, 32, device="cuda")
        predicted = model(rows)  # allocates
        loss = predicted.square().mean()
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        logger.log(step, loss=loss.detach(), norm=norm, predicted=predicted.detach())


if __name__ == "__main__":
    main()
