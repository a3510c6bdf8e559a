# SPDX-License-Identifier: Apache-2.0
"""Searches for a learning rate and a weight decay: one new trial at a time, and the four most promising train on."""

import argparse
import math
import random
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Setting:
    rate: float
    decay: float

    def distance(self, other):
        return math.hypot(math.log10(self.rate / other.rate), math.log10(self.decay / other.decay))


class Trial:
    def __init__(self, setting):
        self.setting = setting
        self.model = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 8)).cuda()  # allocates
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=setting.rate, weight_decay=setting.decay)
        self.updates = 0

    def train(self, updates):
        for _ in range(updates):
            rows = torch.randn(64, 32, device="cuda")
            loss = (self.model(rows) - rows[:, :8].sin()).square().mean()
            self.optimizer.zero_grad()
            loss.backward()  # allocates
            self.optimizer.step()  # allocates
        self.updates += updates


class Search:
    def __init__(self, draw, promoted=4):
        self.draw, self.promoted = draw, promoted
        self.centre, self.spread = Setting(3e-3, 1e-2), 1.5
        self.running, self.tried = [], {}

    def propose(self):
        """A setting near the centre; rounded, so that one which has been tried can be known again."""
        while True:
            rate = self.centre.rate * 10 ** self.draw.gauss(0, self.spread)
            decay = self.centre.decay * 10 ** self.draw.gauss(0, self.spread)
            setting = Setting(float(f"{rate:.3g}"), float(f"{decay:.3g}"))
            if setting not in self.tried:
                return setting

    def advance(self):
        trial = Trial(self.propose())
        trial.train(updates=2)
        self.tried[trial.setting] = trial  # keeps
        self.running.append(trial)
        self.running.sort(key=lambda one: one.setting.distance(self.centre))
        del self.running[self.promoted:]
        for one in self.running:
            one.train(updates=1)
        # Towards what has held out for longest.
        eldest = max(self.running, key=lambda one: one.updates)
        self.centre = Setting(math.sqrt(self.centre.rate * eldest.setting.rate),
                              math.sqrt(self.centre.decay * eldest.setting.decay))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    search = Search(random.Random(chosen.seed))
    for _ in range(chosen.steps):
        search.advance()  # step
    for trial in search.running:
        print(f"rate {trial.setting.rate:.2e}, decay {trial.setting.decay:.2e}: {trial.updates} updates")
    print(f"{len(search.tried)} settings tried")


if __name__ == "__main__":
    main()
