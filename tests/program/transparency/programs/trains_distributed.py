# SPDX-License-Identifier: Apache-2.0
"""A rank: DistributedDataParallel by torchrun, or accelerate."""

import os
import sys

import torch

import models


def by_torchrun():
    import torch.distributed as dist

    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    model, _ = models.hooked("cuda")
    parallel = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        models.step(parallel, optimizer, "cuda")
    dist.destroy_process_group()


def by_accelerate():
    from accelerate import Accelerator

    accelerator = Accelerator(mixed_precision="bf16")
    model, _ = models.hooked("cpu")
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters()))
    for _ in range(3):
        tokens = torch.arange(16, device=accelerator.device)
        loss = torch.nn.functional.cross_entropy(model(tokens), tokens)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    accelerator.end_training()


{"torchrun": by_torchrun, "accelerate": by_accelerate}[sys.argv[1]]()
