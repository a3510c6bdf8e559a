# SPDX-License-Identifier: Apache-2.0
"""Generates text without a cache of keys and values: every new token is a forward call over the whole
sequence so far, a little longer than the one before."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.after = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, hidden):
        batch, length, width = hidden.shape
        query, key, value = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.project(self.before(hidden)).chunk(3, dim=-1)
        )
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return hidden + self.narrow(F.gelu(self.wide(self.after(hidden))))


class Language(nn.Module):
    def __init__(self, words, width=768, layers=4, heads=12):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(hidden)


@torch.inference_mode()
def generate(model, tokens, new_tokens):
    for _ in range(new_tokens):
        probabilities = F.softmax(model(tokens)[:, -1].float(), dim=-1)
        following = probabilities.argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, following], dim=1)
    return tokens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    parser.parse_args()
    torch.manual_seed(0)
    model = Language(words=32000).half().cuda().eval()
    for prompt in (48, 96):
        tokens = torch.randint(32000, (24, prompt), device="cuda")
        print(generate(model, tokens, new_tokens=220).shape)


if __name__ == "__main__":
    main()
