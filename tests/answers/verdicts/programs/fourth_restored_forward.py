# SPDX-License-Identifier: Apache-2.0
"""Before each step forward() is wrapped, so that the inputs can be shown, and put back."""

import argparse
from contextlib import contextmanager

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(512, 1024), nn.Linear(1024, 512)

    def forward(self, x):
        return self.b(self.a(x).relu())


@contextmanager
def recorded(model):
    inside, seen = model.forward, []

    def wrapped(x):
        seen.append(x)
        return inside(x)

    model.forward = wrapped
    try:
        yield seen
    finally:
        model.forward = inside


net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(options.steps):
    x = torch.randn(512, 512, device="cuda")  # step
    with recorded(net) as seen:
        loss = sum((net(part) - part).square().mean() for part in x.chunk(4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(len(seen))
