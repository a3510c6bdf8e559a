# SPDX-License-Identifier: Apache-2.0
"""trains.py KIND WIDTH STEPS: a small training that keeps nothing (steady), its results (leaks), or so much that memory
runs out (fails); prints what PyTorch says of its memory."""

import json
import sys

import torch

kind, width, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
history = []
failed = False
try:
    for _ in range(steps):
        result = model(torch.randn(1024, width, device="cuda"))
        result.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if kind == "leaks":
            history.append(result)
        if kind == "fails":
            history.append(model(torch.randn(1024, width, device="cuda")))
except torch.cuda.OutOfMemoryError:
    failed = True
print(json.dumps({"failed": failed, "allocated": torch.cuda.max_memory_allocated(),
                  "reserved": torch.cuda.max_memory_reserved()}))
