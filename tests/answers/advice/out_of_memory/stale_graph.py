# SPDX-License-Identifier: Apache-2.0
"""Looks at the trained model's output once a step, with its graph: it is alive through the next step."""
import sys

import torch
from torch import nn

model = nn.Sequential(*[part for _ in range(8) for part in (nn.Linear(1024, 1024), nn.ReLU())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    batch = torch.randn(32768, 1024, device="cuda")
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.set_grad_enabled("--changed" not in sys.argv):
        shown = model(batch)
    print(step, shown.mean().item())
