# SPDX-License-Identifier: Apache-2.0
"""One rank of two under torchrun: a transformer whose layers are split by columns and rows (DTensor)."""

import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from batches import DEVICE, on_device, options, peak

VOCABULARY, WIDTH, HEADS, LENGTH = 4000, 512, 8, 128
NCCLS_THREAD_WAKES = 0.3  # seconds; see ddp.py


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, hidden):
        batch, length, _ = hidden.shape
        query, key, value = (
            project(hidden).view(batch, length, -1, WIDTH // HEADS).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, -1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.first, self.second = Attention(), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, hidden):
        hidden = hidden + self.attention(self.first(hidden))
        return hidden + self.down(nn.functional.gelu(self.up(self.second(hidden))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(4))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        hidden = self.tokens(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(hidden)


def main():
    chosen = options(steps=3)
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    mesh = init_device_mesh("cuda", (int(os.environ["WORLD_SIZE"]),))
    model = Model().to(DEVICE)
    for block in model.blocks:
        parallelize_module(block, mesh, {
            "attention.query": ColwiseParallel(), "attention.key": ColwiseParallel(),
            "attention.value": ColwiseParallel(), "attention.out": RowwiseParallel(),
            "up": ColwiseParallel(), "down": RowwiseParallel(),
        })
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    texts = ((torch.randint(VOCABULARY, (8, LENGTH + 1)),) for _ in range(chosen.steps))
    for (text,) in on_device(texts, chosen.streams):
        logits = model(text[:, :-1])
        nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        time.sleep(NCCLS_THREAD_WAKES)
    print(f"tensor parallel: rank {rank}, {chosen.steps} steps, peak {peak()} bytes", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
