# SPDX-License-Identifier: Apache-2.0
"""Loads a checkpoint onto the GPU beside the model, and keeps an average of it."""
import copy
import io
import sys

import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(6144, 6144) for _ in range(16)])
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
model = model.cuda()
average = copy.deepcopy(model)
state = torch.load(file, map_location="cuda")
model.load_state_dict(state)
if "--changed" in sys.argv:
    del state
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(5):
    loss = model(torch.randn(128, 6144, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    for kept, new in zip(average.parameters(), model.parameters()):
        kept.data.lerp_(new.data, 0.01)
