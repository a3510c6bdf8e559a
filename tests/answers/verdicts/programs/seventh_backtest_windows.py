# SPDX-License-Identifier: Apache-2.0
"""Trains a forecaster of a time series and backtests it after each step on three batches of windows."""

import argparse
import random
from dataclasses import dataclass, field

import torch
from torch import nn

PAST, AHEAD, BATCH = 48, 12, 16


@dataclass
class Backtest:
    predicted: list = field(default_factory=list)
    actual: list = field(default_factory=list)

    def update(self, forecast, actual):
        self.predicted.append(forecast)
        self.actual.append(actual)  # keeps

    def smape(self):
        total = 0.0
        for forecast, actual in zip(self.predicted, self.actual):
            size = (forecast.abs() + actual.abs()).clamp(min=1e-6)
            total += (2 * (forecast - actual).abs() / size).mean().item()
        return total / len(self.predicted)

    def reset(self):
        self.predicted = []


class Forecaster(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.recurrent = nn.GRUCell(4, width)
        self.out = nn.Linear(width, AHEAD)

    def forward(self, past):
        hidden = past.new_zeros(len(past), self.recurrent.hidden_size)
        for piece in past.unflatten(1, (-1, 4)).unbind(1):
            hidden = self.recurrent(piece, hidden)
        return self.out(hidden)


def cut(series, rng):
    starts = [rng.randrange(len(series) - PAST - AHEAD) for _ in range(BATCH)]
    windows = torch.stack([series[start:start + PAST + AHEAD] for start in starts])  # allocates
    return windows[:, :PAST], windows[:, PAST:]


@torch.no_grad()
def backtest(model, series, rng, metric):
    for _ in range(3):
        past, ahead = cut(series, rng)
        metric.update(model(past), ahead)
    score = metric.smape()
    metric.reset()
    return score


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    series = torch.arange(2000, device="cuda").div(24).sin()
    model, metric = Forecaster().cuda(), Backtest()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(chosen.steps):
        past, ahead = cut(series[:1500], rng)  # step
        loss = nn.functional.l1_loss(model(past), ahead)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        score = backtest(model, series[1500:], rng, metric)
    print(f"sMAPE {score:.3f}")


if __name__ == "__main__":
    main()
