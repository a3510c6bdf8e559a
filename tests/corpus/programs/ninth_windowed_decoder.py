# SPDX-License-Identifier: Apache-2.0
"""Continues prompts token by token; of every three layers two attend to the last tokens only, one to all."""

import argparse
import random

import torch
from torch import nn

PROMPT, NEW_TOKENS, WINDOW, STRIDE = 6, 32, 12, 2


class Attention(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.heads, self.window = heads, window
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.reset_cache()

    def reset_cache(self):
        self.cache_k = self.cache_v = None
        self.position = 0

    def forward(self, x):
        batch, count, width = x.shape
        shape = (batch, count, self.heads, width // self.heads)
        queries, keys, values = self.query(x).view(shape), self.key(x).view(shape), self.value(x).view(shape)
        if self.cache_k is not None:
            keys = torch.cat([self.cache_k, keys], 1)  # fills
            values = torch.cat([self.cache_v, values], 1)  # fills
        self.cache_k, self.cache_v = keys, values
        if self.window is not None:
            keep = min(keys.shape[1], self.window)
            self.cache_k, self.cache_v = keys[:, -keep:], values[:, -keep:]
        self.position += count

        asking = torch.arange(self.position - count, self.position, device="cuda")
        asked = torch.arange(self.position - keys.shape[1], self.position, device="cuda")
        distance = asking[:, None] - asked[None, :]
        hidden = (distance < 0) | (distance >= (self.window or self.position + 1))
        scores = queries.transpose(1, 2) @ keys.transpose(1, 2).transpose(2, 3) / keys.shape[-1] ** 0.5
        weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        return self.out((weights @ values.transpose(1, 2)).transpose(1, 2).reshape(batch, count, width))


class Block(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, window)
        self.forward_part = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.forward_part(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self, vocabulary=600, width=96, heads=4, layers=3):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(PROMPT + NEW_TOKENS, width)
        self.blocks = nn.ModuleList(Block(width, heads, WINDOW if i % (STRIDE + 1) < STRIDE else None)
                                    for i in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.position = 0

    def reset_cache(self):
        for block in self.blocks:
            block.attention.reset_cache()
        self.position = 0

    def forward(self, ids):
        at = torch.arange(self.position, self.position + ids.shape[1], device="cuda")
        self.position += ids.shape[1]
        x = self.tokens(ids) + self.positions(at)
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, -1])


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)
    model = Decoder().cuda().eval()
    for token in range(chosen.steps):
        begins = token % NEW_TOKENS == 0  # step
        if begins:
            model.reset_cache()
            following = torch.tensor([[draw.randrange(600) for _ in range(PROMPT)]], device="cuda")
        following = model(following).argmax(-1, keepdim=True)
    print("the last token:", following.item())


if __name__ == "__main__":
    main()
