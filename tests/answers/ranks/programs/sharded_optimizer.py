# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel with an optimizer whose states are spread over the ranks."""

import torch
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

import small_model


def train(rank, ranks, differs):
    model = DistributedDataParallel(small_model.Transformer().cuda(), device_ids=[rank])
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-3)
    for _ in range(4):
        with model.no_sync():
            tokens, targets = small_model.batch()
            small_model.loss_of(model(tokens), targets).backward()
        tokens, targets = small_model.batch()
        small_model.loss_of(model(tokens), targets).backward()
        optimizer.step()
        optimizer.zero_grad()
