# SPDX-License-Identifier: Apache-2.0
"""A decoder that writes tokens for as long as asked, looking at the first few and at the most recent ones."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class RollingKV:
    """Keys and values of the first `sink` tokens and of the last `window`."""

    def __init__(self, window, sink):
        self.window, self.sink = window, sink
        self.k = self.v = None

    def crop(self, states):
        if states.shape[2] <= self.window + self.sink:
            return states
        return torch.cat([states[:, :, :self.sink], states[:, :, -self.window:]], dim=2)

    def step(self, k, v):
        if self.k is not None:
            k, v = torch.cat([self.k, k], dim=2), torch.cat([self.v, v], dim=2)
        self.k, self.v = self.crop(k), self.crop(v)
        return self.k, self.v


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                  nn.Linear(4 * width, width))

    def forward(self, x, cache):
        q, k, v = (part.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, dim=-1))
        k, v = cache.step(k, v)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape))
        return x + self.feed(x)


class Writer(nn.Module):
    def __init__(self, words=256, width=128, heads=4, layers=3):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))

    def forward(self, tokens, caches):
        x = self.embed(tokens)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, cache)
        return x[:, -1] @ self.embed.weight.T


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--window", type=int, default=48)
    parser.add_argument("--sink", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Writer().cuda().eval()
    caches = [RollingKV(chosen.window, chosen.sink) for _ in model.blocks]
    token = torch.zeros(4, 1, dtype=torch.long, device="cuda")
    written = []
    with torch.no_grad():
        for _ in range(chosen.steps):
            scores = model(token, caches)  # step
            token = scores.argmax(-1, keepdim=True)
            written.append(token[0, 0].item())
    print(f"{len(written)} tokens, {caches[0].k.shape[2]} looked at")


if __name__ == "__main__":
    main()
