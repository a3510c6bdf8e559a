# SPDX-License-Identifier: Apache-2.0
"""One rank of fully_shard (FSDP2) over a transformer whose blocks are compiled."""

import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

from compiling import DEVICE, finish, options, steps
from nano_gpt import GPT


def main():
    chosen = options(steps=4)
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", "29518")):
        os.environ.setdefault(name, value)
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
    model = GPT().to(DEVICE)
    for block in model.blocks:
        if not chosen.eager:
            block.compile()
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    texts = (torch.randint(1024, (16, 129)) for _ in range(chosen.steps))
    for tokens, targets in steps((text[:, :-1].contiguous(), text[:, 1:].contiguous()) for text in texts):
        model(tokens, targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    finish()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
