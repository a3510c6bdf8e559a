# SPDX-License-Identifier: Apache-2.0
"""One rank of DistributedDataParallel around a compiled transformer."""

import os

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

import compiling
from compiling import DEVICE, compiled, finish, options, steps
from nano_gpt import GPT


def reduce_and_tell(group, bucket):
    compiling.tell("gradients", bucket.buffer())
    return default_hooks.allreduce_hook(group, bucket)


def main():
    chosen = options(steps=4)
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", "29517")):
        os.environ.setdefault(name, value)
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
    model = DistributedDataParallel(GPT().to(DEVICE), device_ids=[0])
    model.register_comm_hook(None, reduce_and_tell)
    network = compiled(chosen, model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    texts = (torch.randint(1024, (16, 129)) for _ in range(chosen.steps))
    for tokens, targets in steps((text[:, :-1].contiguous(), text[:, 1:].contiguous()) for text in texts):
        network(tokens, targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    finish()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
