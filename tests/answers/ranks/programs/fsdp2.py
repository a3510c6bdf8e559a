# SPDX-License-Identifier: Apache-2.0
"""fully_shard (FSDP2), each block a group of its own, in bfloat16."""

import torch
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

import small_model


def train(rank, ranks, differs):
    model = small_model.Transformer().cuda()
    precision = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mp_policy=precision)
    fully_shard(model, mp_policy=precision)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(6):
        tokens, targets = small_model.batch()
        small_model.loss_of(model(tokens), targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    return {"shard": sum(parameter.to_local().numel() for parameter in model.parameters())}
