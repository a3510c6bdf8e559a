# SPDX-License-Identifier: Apache-2.0
"""Adapts a frozen GPT of 1.3 B parameters in bfloat16 by low-rank matrices at its attention."""

import argparse
import math

import torch
from gpt import make
from torch import nn


class Lora(nn.Module):
    def __init__(self, inner, rank=16, alpha=32):
        super().__init__()
        self.inner, self.scale = inner, alpha / rank
        weight = inner.weight
        self.down = nn.Parameter(torch.empty(rank, weight.shape[1], device=weight.device))
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank, device=weight.device))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
        self.dropout = nn.Dropout(0.05)

    def forward(self, x):
        change = self.dropout(x).to(self.down.dtype) @ self.down.T @ self.up.T
        return self.inner(x) + (self.scale * change).to(x.dtype)


parser = argparse.ArgumentParser()
parser.add_argument("--micro-batch", type=int, default=1)
parser.add_argument("--cutoff-len", type=int, default=2048)
parser.add_argument("--steps", type=int, default=5)
args = parser.parse_args()

torch.set_default_dtype(torch.bfloat16)
model = make(layers=24, width=2048, heads=16, length=args.cutoff_len)
torch.set_default_dtype(torch.float32)
model.requires_grad_(False)
for block in model.blocks:
    block.attention.qkv = Lora(block.attention.qkv)
    block.attention.out = Lora(block.attention.out)
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=2e-4)
for _ in range(args.steps):
    tokens = torch.randint(50304, (args.micro_batch, args.cutoff_len), device="cuda")
    loss = model(tokens, tokens)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
