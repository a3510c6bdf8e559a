# SPDX-License-Identifier: Apache-2.0
"""Warm restarts make a new Adam each cycle; its predecessors stay in a list, with their states."""

import argparse

import torch
from torch import nn


class WarmRestarts:
    def __init__(self, model, cycle):
        self.model = model
        self.cycle = cycle
        self.optimizers = []

    def restart(self, step):
        rate = 1e-3 * 0.9 ** (step // self.cycle)
        self.optimizers.append(torch.optim.Adam(self.model.parameters(), lr=rate, foreach=False))  # keeps

    def fit(self, steps):
        for step in range(steps):
            if step % self.cycle == 0:
                self.restart(step)
            optimizer = self.optimizers[-1]
            optimizer.zero_grad()
            self.model(torch.randn(16, 64, device="cuda")).square().mean().backward()
            optimizer.step()  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cycle", type=int, default=8, help="steps of one")
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32)).cuda()
    WarmRestarts(model, chosen.cycle).fit(chosen.steps)


if __name__ == "__main__":
    main()
