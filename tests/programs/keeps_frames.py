# SPDX-License-Identifier: Apache-2.0
"""A training that keeps the frames of each step, which came from the host, on the GPU: 512 KiB a step."""

import time

import torch

model = torch.nn.Linear(512, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
frames = []
for step in range(60):
    frame = torch.rand(256, 512).cuda()  # keeps
    frames.append(frame)
    optimizer.zero_grad()
    model(frame).square().mean().backward()
    optimizer.step()
    time.sleep(0.1)
