# SPDX-License-Identifier: Apache-2.0
"""Trains as one of four ranks, on the GPU of its own; rank 2 takes twice the batch. They do not talk to each other."""

import os

import torch
from torch import nn

ODD = 2


def main() -> None:
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(8):
        rows = torch.randn(2048 if rank == ODD else 1024, 512, device="cuda")
        model(rows).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
