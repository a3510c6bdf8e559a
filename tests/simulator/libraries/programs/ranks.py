# SPDX-License-Identifier: Apache-2.0
"""Two processes: NCCL passes small tensors and objects, and DistributedDataParallel trains."""
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

WORLD = 2


def exchange(rank):
    total = torch.tensor([float(rank + 1)], device="cuda")
    dist.all_reduce(total)
    assert total.item() == 3, total
    gathered = [None] * WORLD
    dist.all_gather_object(gathered, {"rank": rank})
    assert gathered == [{"rank": 0}, {"rank": 1}], gathered
    for length in (1000, 300_000):
        told = [{"text": "x" * length} if rank == 0 else None]
        dist.broadcast_object_list(told, src=0)
        assert told[0] == {"text": "x" * length}
    swapped = torch.zeros(WORLD, dtype=torch.long, device="cuda")
    dist.all_to_all_single(swapped, torch.tensor([10 * rank, 10 * rank + 1], device="cuda"))
    assert swapped.tolist() == [rank, 10 + rank], swapped
    part = torch.zeros(1, device="cuda")
    dist.reduce_scatter_tensor(part, torch.tensor([1.0, 5.0], device="cuda"))
    assert part.item() == (2 if rank == 0 else 10)
    if rank == 0:
        dist.send(torch.tensor([42], device="cuda"), 1)
    else:
        received = torch.zeros(1, dtype=torch.long, device="cuda")
        dist.recv(received, 0)
        assert received.item() == 42


def train():
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.BatchNorm1d(256), torch.nn.Linear(256, 10))
    model = torch.nn.parallel.DistributedDataParallel(model.cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 64, device="cuda")).sum().backward()
        optimizer.step()


def work(rank, folder):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{folder}/meeting", rank=rank, world_size=WORLD)
    exchange(rank)
    train()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "1"
    mp.spawn(work, (sys.argv[1],), nprocs=WORLD)
    print("done")
