# SPDX-License-Identifier: Apache-2.0
"""Forecasts a series with the mean of the networks at which the last cycles of the learning rate ended."""

import argparse
import copy
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F


class Forecaster(nn.Module):
    def __init__(self, past=96, future=24, width=128):
        super().__init__()
        self.trend = nn.Linear(past, future)
        self.rest = nn.Sequential(nn.Linear(past, width), nn.GELU(), nn.Linear(width, width), nn.GELU(),
                                  nn.Linear(width, future))

    def forward(self, series):
        return self.trend(series) + self.rest(series - series.mean(-1, keepdim=True))


class SnapshotEnsemble:
    def __init__(self, members):
        self.members = deque(maxlen=members)

    def add(self, model):
        self.members.append(copy.deepcopy(model).eval().requires_grad_(False))

    @torch.no_grad()
    def forecast(self, past):
        return torch.stack([member(past) for member in self.members]).mean(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--cycle", type=int, default=3)
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    series = torch.randn(7, 2000).cumsum(1)
    model, ensemble = Forecaster().cuda(), SnapshotEnsemble(args.members)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=args.cycle)
    for step in range(args.steps):
        starts = torch.randint(0, 1700, (16,)).tolist()  # step
        windows = torch.cat([series[:, start:start + 120] for start in starts]).cuda()
        past, future = windows.split([96, 24], 1)
        loss = F.mse_loss(model(past), future)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if (step + 1) % args.cycle == 0:
            ensemble.add(model)
            held_back = series[:, -120:].cuda()
            error = F.mse_loss(ensemble.forecast(held_back[:, :96]), held_back[:, 96:])
            print(step, len(ensemble.members), error.item())


if __name__ == "__main__":
    main()
