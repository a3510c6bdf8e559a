# SPDX-License-Identifier: Apache-2.0
"""Generates with a cache of keys and values that is as long as it will ever be from the start."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, LAYERS, WORDS, LENGTH = 1024, 16, 8, 32000, 512


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden, cache, place):
        batch, length, _ = hidden.shape
        query, key, value = (
            part.view(batch, length, HEADS, -1).transpose(1, 2)
            for part in self.project(hidden).chunk(3, dim=-1)
        )
        cache[0][:, :, place:place + length] = key
        cache[1][:, :, place:place + length] = value
        mask = torch.ones(length, LENGTH, dtype=torch.bool, device=hidden.device).tril(place)
        mixed = F.scaled_dot_product_attention(query, cache[0], cache[1], attn_mask=mask)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.feed = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                  nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, hidden, cache, place):
        hidden = hidden + self.attention(self.norm(hidden), cache, place)
        return hidden + self.feed(hidden)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens, caches, place):
        hidden = self.embed(tokens)
        for block, cache in zip(self.blocks, caches):
            hidden = block(hidden, cache, place)
        return self.head(hidden[:, -1:])


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    parser.parse_args()
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float16)
    with torch.device("cuda"):
        model = Decoder().eval()
        caches = [torch.zeros(2, 8, HEADS, LENGTH, WIDTH // HEADS) for _ in range(LAYERS)]
    for _ in range(2):
        tokens = torch.randint(WORDS, (8, 64), device="cuda")
        place = 0
        for _ in range(100):
            following = model(tokens, caches, place).argmax(dim=-1)
            place += tokens.shape[1]
            tokens = following
    print("done")


if __name__ == "__main__":
    main()
