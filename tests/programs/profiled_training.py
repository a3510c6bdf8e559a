# SPDX-License-Identifier: Apache-2.0
"""Trains a little; with `profile` as an argument under torch.profiler in the second half. Prints
what the profiler saw."""

import sys

import torch
from torch.profiler import ProfilerActivity, profile

model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters())


def step(batch: int) -> None:
    optimizer.zero_grad()
    model(torch.randn(batch, 512, device="cuda")).sum().backward()
    optimizer.step()


for size in range(1, 11):
    step(64 * size)
torch.cuda.empty_cache()
if "profile" in sys.argv:
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        step(64)
    kernels = [event for event in seen.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    print("kernels", len(kernels), sorted({event.name for event in kernels}))
for size in range(1, 4):
    step(4096 * size)
