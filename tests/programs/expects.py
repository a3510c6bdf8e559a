# SPDX-License-Identifier: Apache-2.0
"""Trains, keeps a copy of each batch, and says to memtrace in one of several ways that this is meant."""

import argparse
from collections import deque

import torch
from torch import nn

import memtrace

WHY = "plotted at the end"


class Trainer:
    def __init__(self, chosen):
        self.history = deque() if chosen.say == "deque" else []
        self.bank = None
        # Nothing else leads to the list yet, and no memory of the GPU has been asked for.
        if chosen.say in ("object", "deque"):
            memtrace.expect_growth(self.history, WHY)  # says object
        if chosen.say == "path":
            memtrace.expect_growth("Trainer.history", WHY)
        if chosen.say == "nameless":
            memtrace.expect_growth([], WHY)
        self.model = nn.Linear(1024, 1024).to("cuda")

    def keep(self, rows):
        self.history.append(rows.clone())  # keeps

    def grow(self, rows):
        rows = rows[:16].clone()
        self.bank = rows if self.bank is None else torch.cat([self.bank, rows])  # joins

    def fit(self, chosen):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        others = []
        if chosen.say == "instance":
            memtrace.expect_growth(self, WHY)
        if chosen.say == "local":
            memtrace.expect_growth(others, WHY)
        for _ in range(chosen.steps):
            rows = torch.randn(64, 1024, device="cuda")
            optimizer.zero_grad()
            self.model(rows).square().mean().backward()
            optimizer.step()
            if "history" in chosen.keep:
                self.keep(rows)
            if "others" in chosen.keep:
                others.append(rows[:16].clone())  # keeps others
            if "bank" in chosen.keep:
                self.grow(rows)
            if chosen.say == "tensor":
                memtrace.expect_growth(self.bank, WHY)  # another one at each step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=110)
    parser.add_argument("--keep", nargs="+", default=["history"])
    parser.add_argument("--say", default="nothing")
    chosen = parser.parse_args()
    trainer = Trainer(chosen)
    trainer.fit(chosen)
    print(len(trainer.history))


if __name__ == "__main__":
    main()
