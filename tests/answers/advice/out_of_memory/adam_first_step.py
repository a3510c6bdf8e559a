# SPDX-License-Identifier: Apache-2.0
"""Adam's first step does not fit."""
import sys

import torch
from torch import nn

layers = [nn.Linear(4096, 4096, bias=False) for _ in range(40)]
model = nn.Sequential(*layers).cuda()
if "--changed" in sys.argv:
    import bitsandbytes

    optimizer = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=1e-4)
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
for step in range(5):
    batch = torch.randn(64, 4096, device="cuda")
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
