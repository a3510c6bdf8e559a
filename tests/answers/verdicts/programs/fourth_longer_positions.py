# SPDX-License-Identifier: Apache-2.0
"""Tables of positions are made anew when a text is longer than all before it; no text is longer than 2,000."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=53)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
LONGEST = 2000


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.register_buffer("table", torch.zeros(0, width), persistent=False)

    def forward(self, length):
        if length > len(self.table):
            angles = torch.arange(length, device="cuda")[:, None] / torch.arange(1, self.width + 1, device="cuda")
            self.table = angles.cos()
        return self.table[:length]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary, self.mix = Rotary(512), nn.Linear(512, 64)

    def forward(self, x):
        return self.mix(x * self.rotary(x.shape[1]))


def length_at(step):
    """Texts come sorted by their day, and get longer with the years."""
    return min(200 + 45 * step, LONGEST)


model = Model().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(options.steps):
    optimizer.zero_grad()  # step
    model(torch.randn(2, length_at(step), 512, device="cuda")).square().mean().backward()
    optimizer.step()
