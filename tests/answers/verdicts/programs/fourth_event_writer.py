# SPDX-License-Identifier: Apache-2.0
"""A writer of events collects pictures and scalars, to be written when somebody closes it."""

import argparse
from dataclasses import dataclass, field

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=51)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


@dataclass
class Event:
    step: int
    tag: str
    value: object


@dataclass
class Writer:
    folder: str
    events: dict = field(default_factory=dict)

    def add(self, step, tag, value):
        self.events.setdefault(tag, []).append(Event(step, tag, value))  # keeps

    def close(self):
        self.events.clear()


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(1, 8, 4, 2, 1), nn.ConvTranspose2d(8, 1, 4, 2, 1)

    def forward(self, x):
        return self.up(torch.relu(self.down(x)))


writer, model = Writer("runs/autoencoder"), AutoEncoder().cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(options.steps):
    x = torch.rand(16, 1, 64, 64, device="cuda")  # step
    made = model(x)
    loss = (made - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    writer.add(step, "loss", loss.item())
    writer.add(step, "made", made.detach()[:8].clamp(0, 1))  # allocates
