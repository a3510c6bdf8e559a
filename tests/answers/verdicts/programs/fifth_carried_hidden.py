# SPDX-License-Identifier: Apache-2.0
"""Watches sensors for anomalies: a recurrent network foretells the next reading, and is told it afterwards."""

import argparse

import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, sensors=128, hidden=256):
        super().__init__()
        self.inside = nn.Linear(sensors + hidden, hidden)
        self.outside = nn.Linear(hidden, sensors)

    def forward(self, reading, hidden):
        joined = torch.cat([reading, hidden], 1)  # allocates
        hidden = torch.tanh(self.inside(joined))  # allocates
        return self.outside(hidden), hidden


class Monitor:
    def __init__(self, model, machines, threshold=4.0):
        self.model, self.threshold = model.eval(), threshold
        self.hidden = torch.zeros(machines, 256, device="cuda")
        self.expected = None
        self.alarms = 0

    def observe(self, reading):
        score = 0.0
        if self.expected is not None:
            score = float((reading - self.expected.detach()).pow(2).mean())
        self.expected, self.hidden = self.model(reading, self.hidden)  # keeps
        self.alarms += score > self.threshold
        return score


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    monitor = Monitor(Forecaster().cuda(), machines=64)
    for minute in range(args.steps):
        reading = torch.randn(64, 128).cuda()  # step
        print(minute, monitor.observe(reading))


if __name__ == "__main__":
    main()
