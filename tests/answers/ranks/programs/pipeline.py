# SPDX-License-Identifier: Apache-2.0
"""A stage of the model on each rank, four micro-batches, one forward and one backward in turn."""

import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

WIDTH, BATCH = 512, 32


def train(rank, ranks, differs):
    stage = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(2 + rank))).cuda()
    example = torch.randn(BATCH // 4, WIDTH, device="cuda")
    pipeline = PipelineStage(stage, rank, ranks, torch.device("cuda", rank), input_args=example, output_args=example)
    schedule = Schedule1F1B(pipeline, 4, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.AdamW(stage.parameters(), lr=1e-3)
    for _ in range(4):
        inputs, target = (torch.randn(BATCH, WIDTH, device="cuda") for _ in range(2))
        if rank == 0:
            schedule.step(inputs)
        elif rank == ranks - 1:
            schedule.step(target=target)
        else:
            schedule.step()
        optimizer.step()
        optimizer.zero_grad()
