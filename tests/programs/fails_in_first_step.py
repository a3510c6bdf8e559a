# SPDX-License-Identifier: Apache-2.0
"""A model is built on the CPU for some seconds, which takes more and more of the host's memory, and the first step
fails."""

import time

import torch

layers = []
for _ in range(80):
    layers.append(torch.nn.Linear(1024, 1024))
    time.sleep(0.05)
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.Adam(model.parameters())
model(torch.randn(64, 1024, device="cuda")).sum().backward()
raise ValueError("in the first step")
