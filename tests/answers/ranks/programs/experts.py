# SPDX-License-Identifier: Apache-2.0
"""An expert on each rank: tokens go there and back in all_to_all, by counts that ranks tell each other."""

import torch
import torch.distributed as dist
from torch import nn

WIDTH, TOKENS = 256, 512


def exchanged(tokens, to_each, from_each):
    got = tokens.new_empty(sum(from_each), WIDTH)
    dist.all_to_all_single(got, tokens.contiguous(), from_each, to_each)
    return got


def train(rank, ranks, differs):
    expert = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)).cuda()
    optimizer = torch.optim.AdamW(expert.parameters(), lr=1e-3)
    for _ in range(4):
        tokens = torch.randn(TOKENS, WIDTH, device="cuda")
        chosen = torch.arange(TOKENS) % ranks  # on the host: the same at all ranks
        sent = torch.bincount(chosen, minlength=ranks).cuda()
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent)
        to_each, from_each = sent.tolist(), received.tolist()
        inside = exchanged(tokens[chosen.argsort().cuda()], to_each, from_each)
        outside = expert(inside)
        back = exchanged(outside.detach(), from_each, to_each)
        outside.backward(exchanged(back, to_each, from_each))
        for parameter in expert.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
        optimizer.zero_grad()
