# SPDX-License-Identifier: Apache-2.0
"""Trains a regression with a reporter; an extension logs the mean and deviation of what was reported."""

import argparse
import math

import torch
from torch import nn

ITERATIONS_PER_EPOCH = 1000


class Summary:
    """The mean and the standard deviation of values given one after the other."""

    def __init__(self):
        self.x, self.x2, self.n = 0.0, 0.0, 0

    def add(self, value, weight=1):
        square = weight * value * value  # allocates
        self.x = self.x + weight * value
        self.x2 = self.x2 + square  # keeps
        self.n += weight

    def statistics(self):
        mean = float(self.x) / self.n
        return mean, math.sqrt(max(float(self.x2) / self.n - mean * mean, 0.0))


class Reporter:
    def __init__(self):
        self.observation = {}

    def report(self, values):
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = value.clone()  # allocates
            self.observation[name] = value


class LogReport:
    """Sums observations up, and logs them whenever an epoch is over."""

    def __init__(self):
        self.summaries = {}
        self.log = []

    def __call__(self, iteration, observation):
        for name, value in observation.items():
            self.summaries.setdefault(name, Summary()).add(value)
        if (iteration + 1) % ITERATIONS_PER_EPOCH == 0:
            self.log.append({name: summary.statistics() for name, summary in self.summaries.items()})
            self.summaries = {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    reporter, log_report = Reporter(), LogReport()
    for iteration in range(chosen.steps):
        rows = torch.randn(48, 32, device="cuda")  # step
        reporter.observation = {}
        optimizer.zero_grad()
        loss = (model(rows) - rows.mean(1, keepdim=True)).square().mean()
        reporter.report({"loss": loss, "lr": optimizer.param_groups[0]["lr"]})
        loss.backward()
        optimizer.step()
        log_report(iteration, reporter.observation)
    for name, summary in log_report.summaries.items():
        print(name, *summary.statistics())


if __name__ == "__main__":
    main()
