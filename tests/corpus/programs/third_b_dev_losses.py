# SPDX-License-Identifier: Apache-2.0
"""Forecasts are tested after each step, without no_grad(): the list of losses keeps what their graphs have saved."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Forecaster(nn.Module):
    def __init__(self, width=120):
        super().__init__()
        self.first, self.second, self.ahead = nn.Linear(48, width), nn.Linear(width, width), nn.Linear(width, 12)

    def forward(self, past):
        code = torch.tanh(self.first(past))  # allocates
        code = torch.sigmoid(self.second(code))  # allocates
        return self.ahead(code)  # allocates


def windows(series, count):
    at = torch.randint(len(series) - 60, (count,))
    rows = torch.stack([series[one:one + 60] for one in at]).cuda()  # allocates
    return rows[:, :48], rows[:, 48:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=38)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    series = torch.arange(5000).div(30).sin()
    net, dev_losses = Forecaster().cuda(), []
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(args.steps):
        past, future = windows(series, 64)  # step
        optimizer.zero_grad()
        F.mse_loss(net(past), future).backward()
        optimizer.step()
        past, future = windows(series, 256)
        loss = F.l1_loss(net(past), future)  # allocates
        dev_losses.append(loss)  # keeps
        print(f"{step}: {dev_losses[-1].item():.4f}")


if __name__ == "__main__":
    main()
