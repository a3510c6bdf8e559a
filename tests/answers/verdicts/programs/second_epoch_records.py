# SPDX-License-Identifier: Apache-2.0
"""An epoch is a record with the logits of its steps; a new one begins every eight steps, and the old ones are kept."""

import argparse
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Epoch:
    number: int
    logits: list = field(default_factory=list)
    losses: list = field(default_factory=list)

    def spread(self):
        return torch.cat(self.logits).std().item()


class Fit:
    steps_per_epoch = 8

    def __init__(self, model):
        self.model, self.epochs = model, []
        self.optimizer = torch.optim.Adamax(model.parameters())

    def step(self, rows, kinds):
        logits = self.model(rows)  # allocates
        loss = F.cross_entropy(logits, kinds)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.epochs[-1].logits.append(logits.detach())  # keeps
        self.epochs[-1].losses.append(loss.item())

    def run(self, steps):
        for step in range(steps):
            if step % self.steps_per_epoch == 0:
                self.epochs.append(Epoch(len(self.epochs)))
            self.step(torch.randn(64, 40).cuda(), torch.randint(30, (64,)).cuda())  # step
            if step % self.steps_per_epoch == self.steps_per_epoch - 1:
                print(f"epoch {self.epochs[-1].number}: spread {self.epochs[-1].spread():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    Fit(nn.Sequential(nn.Linear(40, 256), nn.ReLU(), nn.Linear(256, 30)).cuda()).run(args.steps)
