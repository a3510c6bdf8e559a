# SPDX-License-Identifier: Apache-2.0
"""Attention by hand at a long sequence."""
import argparse

import torch
from torch import nn
from torch.nn import functional

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=4)
parser.add_argument("--num_batches", type=int, default=8)
parser.add_argument("--changed", action="store_true")
parser.add_argument("--length", type=int, default=4096)
args = parser.parse_args()


class Attention(nn.Module):
    def __init__(self, width=512, heads=8):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if args.changed:
            mixed = functional.scaled_dot_product_attention(q, k, v)
        else:
            mixed = functional.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1) @ v
        return x + self.out(mixed.transpose(1, 2).flatten(2))


model = nn.Sequential(*[Attention() for _ in range(4)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(args.num_batches):
    loss = model(torch.randn(args.batch_size, args.length, 512, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
