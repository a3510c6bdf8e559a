# SPDX-License-Identifier: Apache-2.0
"""A decoder-only transformer as small training repositories write it: used by several programs of this folder."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, cache=None):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(width, dim=2))
        if cache is not None:
            if cache:
                k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
            cache[:] = [k, v]
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x, cache=None):
        x = x + self.attention(self.ln_1(x), cache)
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, layers=12, width=768, heads=12, vocabulary=50304, length=1024, checkpointing=False):
        super().__init__()
        self.checkpointing = checkpointing
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, index, targets=None, caches=None, start=0):
        x = self.tokens(index) + self.positions(torch.arange(start, start + index.shape[1], device=index.device))
        for number, block in enumerate(self.blocks):
            if self.checkpointing and self.training:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x, caches[number] if caches is not None else None)
        x = self.norm(x)
        if targets is None:
            return self.head(x[:, -1:])
        logits = self.head(x)
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def make(**sizes):
    """On the GPU at once: the weights' values do not matter here, only their making on the host takes long."""
    with torch.device("cuda"):
        return GPT(**sizes)
