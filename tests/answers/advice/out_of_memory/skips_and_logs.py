# SPDX-License-Identifier: Apache-2.0
"""Skips what does not fit, and keeps the errors for a table at the end."""
import sys

import torch
from torch import nn

CHANGED = "--changed" in sys.argv
model = nn.Sequential(nn.Linear(1024, 8192), nn.GELU(), nn.Linear(8192, 8192), nn.GELU(), nn.Linear(8192, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
skipped = []


def train_on(rows):
    hidden = torch.randn(rows, 1024, device="cuda")
    wide = model[1](model[0](hidden))
    loss = model[4](model[3](model[2](wide))).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


for step in range(60):
    rows = 40000 if step % 10 == 7 else 2048
    try:
        train_on(rows)
    except torch.cuda.OutOfMemoryError as error:
        if rows == 2048:
            raise
        skipped.append((step, str(error) if CHANGED else error))
print(len(skipped))
