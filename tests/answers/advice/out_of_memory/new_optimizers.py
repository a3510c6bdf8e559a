# SPDX-License-Identifier: Apache-2.0
"""Makes a new optimizer for each stage, and a list for the logs keeps the old ones with their states."""
import sys

import torch
from torch import nn

CHANGED = "--changed" in sys.argv
model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(16)]).cuda()
stages = []
for stage in range(40):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 / (stage + 1), fused=True)
    for _ in range(3):
        model(torch.randn(256, 2048, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    stages.append(optimizer.param_groups[0]["lr"] if CHANGED else optimizer)
print(len(stages))
