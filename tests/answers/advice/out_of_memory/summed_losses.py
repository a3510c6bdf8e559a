# SPDX-License-Identifier: Apache-2.0
"""Sums the loss with its graph."""
import sys

import torch
from torch import nn

model = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(1024, 1024), nn.GELU())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
total = 0
for step in range(150):
    batch = torch.randn(8192, 1024, device="cuda")
    loss = (model(batch) - batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen = model(batch[:2048]).mean()
    total = total + (seen.detach() if "--changed" in sys.argv else seen)
print(total)
