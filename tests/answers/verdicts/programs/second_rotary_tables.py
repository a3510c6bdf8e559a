# SPDX-License-Identifier: Apache-2.0
"""Rotary positions by length come from a cache of twenty-four tables; the run meets fewer lengths than that."""

import argparse
import random
from functools import lru_cache

import torch
from torch import nn
from torch.nn import functional as F


@lru_cache(maxsize=24)
def rotary(length, width):
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(width // 2) / (width // 2))
    return torch.stack([angles.cos(), angles.sin()]).repeat(1, 1, 2).cuda()


def turned(x):
    cos, sin = rotary(x.shape[1], x.shape[2])
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat([-right, left], -1) * sin


class Model(nn.Module):
    def __init__(self, words=90, width=192):
        super().__init__()
        self.embed, self.mix = nn.Embedding(words, width), nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, words)

    def forward(self, words):
        query, key, value = self.mix(self.embed(words)).chunk(3, -1)
        return self.out(F.scaled_dot_product_attention(turned(query), turned(key), value, is_causal=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=19)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng, model = random.Random(args.seed), Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(args.steps):
        words = torch.randint(90, (6, rng.randint(40, 120) + 1)).cuda()  # step
        loss = F.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(rotary.cache_info())


if __name__ == "__main__":
    main()
