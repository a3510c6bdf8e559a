# SPDX-License-Identifier: Apache-2.0
"""Trains with an optimizer whose states are in unified memory. Prints how many bytes they are."""

import bitsandbytes
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024, bias=False) for _ in range(4)]).cuda()
optimizer = bitsandbytes.optim.PagedAdamW8bit(model.parameters(), min_8bit_size=4096)
for _ in range(3):
    model(torch.randn(8, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print(sum(state[name].nbytes for state in optimizer.state.values() for name in ("state1", "state2")))
