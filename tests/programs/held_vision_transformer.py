# SPDX-License-Identifier: Apache-2.0
"""Trains a vision transformer on one large picture at a time with mixed precision."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, tokens):
        batch, count, width = tokens.shape
        parts = self.project(self.first(tokens)).view(batch, count, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value)
        tokens = tokens + self.out(mixed.transpose(1, 2).reshape(batch, count, width))
        return tokens + self.narrow(F.gelu(self.wide(self.second(tokens))))


class Transformer(nn.Module):
    def __init__(self, recompute, width=320, layers=20):
        super().__init__()
        self.recompute = recompute
        self.patches = nn.Conv2d(3, width, 16, stride=16)
        self.layers = nn.ModuleList(Layer(width, 5) for _ in range(layers))
        self.head = nn.Linear(width, 21)

    def forward(self, picture):
        tokens = self.patches(picture).flatten(2).transpose(1, 2)
        for layer in self.layers:
            tokens = checkpoint(layer, tokens, use_reentrant=False) if self.recompute else layer(tokens)
        return self.head(tokens)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = Transformer(chosen.change == "checkpointing").cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    for _ in range(6):
        picture = torch.randn(1, 3, 1536, 1536).cuda()
        labels = torch.randint(21, (96 * 96,)).cuda()
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(model(picture).flatten(0, 1), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
