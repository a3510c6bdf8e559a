# SPDX-License-Identifier: Apache-2.0
"""Validates without no_grad(): the graph of one batch is there while the next one's is made."""
import contextlib
import sys

import torch
from torch import nn

quiet = torch.no_grad if "--changed" in sys.argv else contextlib.nullcontext
model = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)) for _ in range(16)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(batches):
    for _ in range(batches):
        loss = model(torch.randn(1024, 1024, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def validate(batches):
    model.eval()
    worst = 0.0
    for _ in range(batches):
        batch = torch.randn(4096, 1024, device="cuda")
        found = model(batch)
        worst = max(worst, (found - batch).abs().max().item())
    return worst


train(3)
with quiet():
    print(validate(4))
