# SPDX-License-Identifier: Apache-2.0
"""fully_shard over a mesh of two dimensions: copies of what is sharded."""

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import small_model


def train(rank, ranks, differs):
    mesh = init_device_mesh("cuda", (2, ranks // 2), mesh_dim_names=("copies", "shards"))
    model = small_model.Transformer().cuda()
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(6):
        tokens, targets = small_model.batch()
        small_model.loss_of(model(tokens), targets).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
