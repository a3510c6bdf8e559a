# SPDX-License-Identifier: Apache-2.0
"""One rank of two under torchrun: each has half of the layers (torch.distributed.pipelining, 1F1B)."""

import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

from batches import DEVICE, on_device, options, peak

WIDTH, CLASSES, BATCH, PARTS = 768, 100, 4096, 4
NCCLS_THREAD_WAKES = 0.3  # seconds; see ddp.py


def half(last):
    layers = [part for _ in range(4) for part in (nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH))]
    return nn.Sequential(*layers, *([nn.Linear(WIDTH, CLASSES)] if last else []))


def main():
    chosen = options(steps=3)
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    model = half(rank == 1).to(DEVICE)
    part = torch.empty(BATCH // PARTS, WIDTH, device="meta")
    result = torch.empty(BATCH // PARTS, CLASSES if rank else WIDTH, device="meta")
    stage = PipelineStage(model, rank, 2, torch.device("cuda", rank), input_args=(part,), output_args=(result,))
    schedule = Schedule1F1B(stage, PARTS, loss_fn=nn.functional.cross_entropy)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    rows = ((torch.rand(BATCH, WIDTH), torch.randint(CLASSES, (BATCH,))) for _ in range(chosen.steps))
    for row, label in on_device(rows, chosen.streams):
        schedule.step(row) if rank == 0 else schedule.step(target=label)
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        time.sleep(NCCLS_THREAD_WAKES)
    print(f"pipeline: rank {rank}, {chosen.steps} steps, peak {peak()} bytes", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
