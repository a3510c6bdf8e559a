# SPDX-License-Identifier: Apache-2.0
"""Trains until the file that it is given exists, and says what it computed; never heard of memtrace."""
import pathlib
import sys
import time

import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept = []
print("trains", flush=True)
while not pathlib.Path(sys.argv[1]).exists():
    model(torch.randn(64, 256, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    kept.append(torch.empty(1 << 18, device="cuda"))
    time.sleep(0.01)
print("ended", len(kept) > 100, [name for name in vars(sys.modules["__main__"]) if "attach" in name])
