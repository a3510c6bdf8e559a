# SPDX-License-Identifier: Apache-2.0
"""Recent batches are listed to take a median over; the list is cut to eight when it has grown to twenty-four."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=51)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Recent:
    def __init__(self, least, most):
        self.least, self.most, self.outputs = least, most, []

    def add(self, output):
        self.outputs.append(output)
        if len(self.outputs) > self.most:
            del self.outputs[:-self.least]

    def median(self):
        return torch.stack(self.outputs[-self.least:]).median(0).values


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(32, 128), nn.Linear(128, 300)

    def forward(self, series):
        state = None
        for value in series.unbind(1):
            state = self.cell(value, state)
        return self.out(state[0])


forecast, recent = Forecast().cuda(), Recent(least=8, most=24)
optimizer = torch.optim.Adam(forecast.parameters())
for step in range(options.steps):
    series = torch.randn(128, 4, 32, device="cuda")  # step
    made = forecast(series)
    optimizer.zero_grad()
    made.square().mean().backward()
    optimizer.step()
    recent.add(made.detach() * 1.0)  # fills
    recent.median()
