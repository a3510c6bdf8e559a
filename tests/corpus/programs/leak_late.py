# SPDX-License-Identifier: Apache-2.0
"""From the middle of the run on, hard examples are collected for a second phase that never comes."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class HardExamples:
    def __init__(self, begin):
        self.begin = begin
        self.kept = []

    def collect(self, step, rows, losses):
        if step >= self.begin:
            order = losses.argsort(descending=True)[:16]
            self.kept.append(rows[order])  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(60, 120), nn.ReLU(), nn.Linear(120, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    hard = HardExamples(begin=0.55 * chosen.steps)
    for step in range(chosen.steps):
        rows, labels = torch.randn(64, 60).cuda(), torch.randint(10, (64,)).cuda()
        losses = F.cross_entropy(model(rows), labels, reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        hard.collect(step, rows, losses.detach())
    print(len(hard.kept), "batches of hard examples")


if __name__ == "__main__":
    main()
