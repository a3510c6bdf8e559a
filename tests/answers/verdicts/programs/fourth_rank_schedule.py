# SPDX-License-Identifier: Apache-2.0
"""The rank of an adapter doubles every eighth step, from four to thirty-two."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=32)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class LowRank(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features, device="cuda") * 0.02)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, device="cuda"))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T

    @torch.no_grad()
    def widen(self):
        self.down = nn.Parameter(torch.cat([self.down, torch.randn_like(self.down) * 0.02]))
        self.up = nn.Parameter(torch.cat([self.up, torch.zeros_like(self.up)], 1))


def trained(layer):
    return torch.optim.AdamW([layer.down, layer.up])


layer = LowRank(nn.Linear(4096, 1024).cuda(), rank=4)
optimizer = trained(layer)
for step in range(options.steps):
    x = torch.randn(16, 4096, device="cuda")  # step
    if step in (8, 16, 24):
        layer.widen()
        optimizer = trained(layer)
    optimizer.zero_grad()
    layer(x).square().mean().backward()
    optimizer.step()
