# SPDX-License-Identifier: Apache-2.0
"""Half of a network on each of two devices; one block of each device waits for another stream at the end."""

import torch

first = torch.nn.Linear(512, 2048).to("cuda:0")
second = torch.nn.Linear(2048, 512).to("cuda:1")
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.01, momentum=0.9)
for step in range(4):
    batch = torch.zeros(256, 512, device="cuda:0")
    second(torch.relu(first(batch)).to("cuda:1")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
for device in ("cuda:0", "cuda:1"):
    with torch.cuda.device(device):
        torch.cuda.empty_cache()
        side = torch.cuda.Stream()
        waiting = torch.empty(3_000_000, device=device)
        waiting.record_stream(side)
        del waiting
