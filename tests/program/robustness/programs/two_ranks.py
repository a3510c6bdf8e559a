# SPDX-License-Identifier: Apache-2.0
"""One rank of two under torchrun: gradients are averaged by DistributedDataParallel over NCCL."""

import os
import time

import torch
import torch.distributed as dist
from torch import nn

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(nn.Linear(64, 64).cuda(), device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.rand(8, 64, device="cuda")).sum().backward()
    optimizer.step()
    # The thread that watches NCCL's work lets go of its tensors some time later: the peak depends on
    # whether the next step comes before that.
    time.sleep(0.3)
torch.cuda.synchronize()
with open(os.path.join(os.environ["RANKS"], f"rank{rank}"), "w") as said:
    said.write(f"{torch.cuda.max_memory_allocated()}")
dist.destroy_process_group()
