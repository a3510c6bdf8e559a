# SPDX-License-Identifier: Apache-2.0
"""Forecasts the next hour of a sensor network while it learns, with intervals from the errors of past forecasts."""

import argparse
from collections import deque

import torch
from torch import nn

SENSORS = 48
READINGS = 12


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.weigh = nn.Linear(READINGS, 1)
        self.predict = nn.Sequential(nn.Linear(2 * READINGS, hidden), nn.Tanh(), nn.Linear(hidden, READINGS))

    def forward(self, context):
        """context: sensors, hours, readings"""
        weights = torch.softmax(self.weigh(context), 1)
        return self.predict(torch.cat([(weights * context).sum(1), context[:, -1]], -1))


class OnlineForecast:
    def __init__(self, hours=24, calibration=36, coverage=0.9):
        self.model = Forecaster().cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.hours, self.coverage = hours, coverage
        self.context = torch.zeros(SENSORS, 1, READINGS, device="cuda")
        self.errors = deque(maxlen=calibration)

    def interval(self):
        """Half its width, for each sensor and reading: conformal prediction."""
        if not self.errors:
            return None
        return torch.stack(tuple(self.errors)).quantile(self.coverage, 0)

    def learn(self, observed):
        error = self.model(self.context) - observed
        self.optimizer.zero_grad()
        error.square().mean().backward()
        self.optimizer.step()
        self.errors.append(error.detach().abs())

    def observe(self, observed):
        width = self.interval()
        self.learn(observed)
        self.context = torch.cat([self.context, observed[:, None]], 1)[:, -self.hours:]
        return 0.0 if width is None else width.mean().item()


def sensor_hours(steps):
    """A daily wave and noise."""
    phase = torch.rand(SENSORS, READINGS)
    for hour in range(steps):
        yield torch.sin(2 * torch.pi * (hour / 24 + phase)) + 0.1 * torch.randn(SENSORS, READINGS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    online = OnlineForecast()
    for hour, readings in enumerate(sensor_hours(chosen.steps)):
        width = online.observe(readings.cuda())  # step
        if hour % 6 == 5:
            print(f"hour {hour + 1}: intervals are {2 * width:.3f} wide")


if __name__ == "__main__":
    main()
