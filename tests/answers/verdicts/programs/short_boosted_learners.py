# SPDX-License-Identifier: Apache-2.0
"""Boosting: each round adds a small network that learns what those before it got wrong; all of them are the model."""

import argparse

import torch
from torch import nn


class Boosted(nn.Module):
    def __init__(self, most, shrinkage=0.3):
        super().__init__()
        self.most, self.shrinkage, self.learners = most, shrinkage, nn.ModuleList()

    def forward(self, rows):
        answer = torch.zeros(len(rows), 1, device=rows.device)
        for learner in self.learners:
            answer = answer + self.shrinkage * learner(rows)
        return answer

    def add(self, rows, residuals, passes=5):
        assert len(self.learners) < self.most
        learner = nn.Sequential(nn.Linear(40, 256), nn.ReLU(), nn.Linear(256, 1)).to(rows.device)
        optimizer = torch.optim.SGD(learner.parameters(), lr=0.05)
        for _ in range(passes):
            optimizer.zero_grad()
            (learner(rows) - residuals).square().mean().backward()
            optimizer.step()
        optimizer.zero_grad()
        self.learners.append(learner.requires_grad_(False))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rows = torch.randn(512, 40, device="cuda")
    wanted = rows[:, :3].sin().sum(1, keepdim=True)
    model = Boosted(most=chosen.steps)
    for _ in range(chosen.steps):
        with torch.no_grad():
            residuals = wanted - model(rows)
        model.add(rows, residuals)
    with torch.no_grad():
        print(f"error {(wanted - model(rows)).square().mean().item():.4f}, {len(model.learners)} learners")


if __name__ == "__main__":
    main()
