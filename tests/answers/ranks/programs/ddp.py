# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel. The rank that differs trains twice the batch."""

import torch
from torch.nn.parallel import DistributedDataParallel

import small_model


def train(rank, ranks, differs):
    model = DistributedDataParallel(small_model.Transformer().cuda(), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(6):
        tokens, targets = small_model.batch(2 if differs else 1)
        small_model.loss_of(model(tokens), targets).backward()
        optimizer.step()
        optimizer.zero_grad()
