# SPDX-License-Identifier: Apache-2.0
"""Trains, and prints after each step what PyTorch says: allocated, most allocated so far, reserved.

steady_training.py STEPS SECONDS_A_STEP [keep]: `keep` keeps a mebibyte a step.
"""

import sys
import time

import torch

steps, pause = int(sys.argv[1]), float(sys.argv[2])
keeps = sys.argv[3:] == ["keep"]
kept = []
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(3)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(steps):
    batch = torch.randn(32, 256, device="cuda")
    model(batch).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if keeps:
        kept.append(torch.zeros(2**18, device="cuda"))
    print(step, torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(),
          torch.cuda.memory_reserved(), flush=True)
    time.sleep(pause)
