# SPDX-License-Identifier: Apache-2.0
"""FullyShardedDataParallel (FSDP1), each block a unit of its own. The rank that differs keeps every loss's graph."""

import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

import small_model


def train(rank, ranks, differs):
    model = small_model.Transformer()
    model = FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({nn.TransformerEncoderLayer}),
                                     device_id=rank, use_orig_params=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    kept = []
    for _ in range(6):
        tokens, targets = small_model.batch()
        logits = model(tokens)
        if differs:
            kept.append(logits.detach())
        small_model.loss_of(logits, targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    return {"shard": sum(parameter.numel() for parameter in model.parameters())}
