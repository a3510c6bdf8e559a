# SPDX-License-Identifier: Apache-2.0
"""Trains with a reporter: what the training reports of each iteration is summed up, the means are logged at the end."""

import argparse

import torch
from torch import nn


class Reporter:
    def __init__(self):
        self.observation = {}

    def report(self, values):
        for name, value in values.items():
            self.observation[name] = value.clone() if isinstance(value, torch.Tensor) else value


class Summary:
    def __init__(self):
        self._x, self._n = 0.0, 0

    def add(self, value):
        self._x = self._x + value  # keeps
        self._n += 1

    def compute_mean(self):
        return self._x / self._n


class DictSummary:
    def __init__(self):
        self._summaries = {}

    def add(self, observation):
        for name, value in observation.items():
            self._summaries.setdefault(name, Summary()).add(value)

    def compute_mean(self):
        return {name: summary.compute_mean() for name, summary in self._summaries.items()}


class LogReport:
    def __init__(self):
        self._summary = DictSummary()

    def __call__(self, observation):
        self._summary.add(observation)

    def log(self):
        return {name: float(mean) for name, mean in self._summary.compute_mean().items()}


def update(model, optimizer, reporter):
    rows = torch.randn(64, 48, device="cuda")
    optimizer.zero_grad()
    error = model(rows) - rows[:, :32]  # allocates
    loss = error.square().mean()
    loss.backward()
    optimizer.step()
    reporter.report({"train/loss": loss, "train/mean_error": error.abs().mean()})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44, help="iterations of the epoch")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(48, 96), nn.ReLU(), nn.Linear(96, 32)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    reporter, report = Reporter(), LogReport()
    for _ in range(chosen.steps):
        reporter.observation = {}  # step
        update(model, optimizer, reporter)
        report(reporter.observation)
    print(report.log())


if __name__ == "__main__":
    main()
