# SPDX-License-Identifier: Apache-2.0
"""Generates with a cache of keys and values that torch.cat makes longer at every token."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, LAYERS, WORDS = 1024, 16, 12, 32000


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden, past):
        batch, length, _ = hidden.shape
        query, key, value = (
            part.view(batch, length, HEADS, -1).transpose(1, 2)
            for part in self.project(hidden).chunk(3, dim=-1)
        )
        if past is not None:
            key = torch.cat([past[0], key], dim=2)
            value = torch.cat([past[1], value], dim=2)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=past is None)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH)), (key, value)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.feed = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                  nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, hidden, past):
        mixed, present = self.attention(self.norm(hidden), past)
        hidden = hidden + mixed
        return hidden + self.feed(hidden), present


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens, cache):
        hidden = self.embed(tokens)
        grown = []
        for block, past in zip(self.blocks, cache or [None] * LAYERS):
            hidden, present = block(hidden, past)
            grown.append(present)
        return self.head(hidden[:, -1:]), grown


@torch.no_grad()
def generate(model, tokens, new_tokens):
    cache = None
    for _ in range(new_tokens):
        logits, cache = model(tokens, cache)
        tokens = logits.argmax(dim=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    parser.parse_args()
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float16)
    with torch.device("cuda"):
        model = Decoder().eval()
    for batch, prompt in ((16, 260), (24, 120), (12, 500)):
        generate(model, torch.randint(WORDS, (batch, prompt), device="cuda"), new_tokens=200)
    print("done")


if __name__ == "__main__":
    main()
