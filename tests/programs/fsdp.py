# SPDX-License-Identifier: Apache-2.0
"""One rank of two under torchrun: a transformer sharded by fully_shard (FSDP2), with AdamW."""

import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.fsdp._fully_shard import _fsdp_collectives

import told
from batches import DEVICE, on_device, options, peak

NCCLS_THREAD_WAKES = 0.3  # seconds; see ddp.py


def tell_buckets(kind, role):
    allocate = kind.allocate
    kind.allocate = lambda *place, **what: told.bucket(allocate(*place, **what), role)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(2000, 512)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, norm_first=True) for _ in range(4)
        )
        self.head = nn.Linear(512, 2000)

    def forward(self, tokens):
        hidden = self.tokens(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(hidden)


def main():
    chosen = options(steps=3)
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    tell_buckets(_fsdp_collectives.DefaultAllGather, "weights")
    tell_buckets(_fsdp_collectives.DefaultReduceScatter, "gradients")
    model = Model().to(DEVICE)
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    texts = ((torch.randint(2000, (8, 129)),) for _ in range(chosen.steps))
    for (text,) in on_device(texts, chosen.streams):
        logits = model(text[:, :-1])
        nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        time.sleep(NCCLS_THREAD_WAKES)
    print(f"fsdp: rank {rank}, {chosen.steps} steps, peak {peak()} bytes", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
