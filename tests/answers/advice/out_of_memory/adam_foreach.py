# SPDX-License-Identifier: Apache-2.0
"""Adam's states fit, and the temporaries of its foreach form beside them do not."""
import sys

import torch
from torch import nn

layers = [nn.Linear(4096, 4096, bias=False) for _ in range(40)]
model = nn.Sequential(*layers).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused="--changed" in sys.argv or None)
for step in range(5):
    batch = torch.randn(64, 4096, device="cuda")
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
