# SPDX-License-Identifier: Apache-2.0
"""Keys and values go round: each rank sends to the next and receives from the one before."""

import torch
import torch.distributed as dist
from torch import nn

LENGTH, WIDTH = 256, 64


def train(rank, ranks, differs):
    project = nn.Linear(WIDTH, 3 * WIDTH).cuda()
    optimizer = torch.optim.AdamW(project.parameters(), lr=1e-3)
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    for _ in range(4):
        query, *pair = project(torch.randn(LENGTH, WIDTH, device="cuda")).chunk(3, dim=-1)
        pair = torch.stack(pair)
        attended = 0
        for _ in range(ranks):
            keys, values = pair
            attended = attended + (query @ keys.T).softmax(-1) @ values
            got = torch.empty_like(pair)
            for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, pair.detach(), after),
                                                   dist.P2POp(dist.irecv, got, before)]):
                request.wait()
            pair = got
        attended.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
