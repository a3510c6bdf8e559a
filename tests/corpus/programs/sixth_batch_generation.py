# SPDX-License-Identifier: Apache-2.0
"""Continues batches of prompts, 32 tokens each, with keys and values kept from one token to the next."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, past):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)  # fills
            v = torch.cat([past[1], v], dim=2)  # fills
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        return x + self.out(attended.transpose(1, 2).flatten(2)), (k, v)


class Generator(nn.Module):
    def __init__(self, vocabulary=1000, width=128, heads=4, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, cache):
        x, cache = self.embedding(tokens), cache or [None] * len(self.layers)
        for index, layer in enumerate(self.layers):
            x, cache[index] = layer(x, cache[index])
        return self.head(x[:, -1]), cache


class Sampler:
    def __init__(self, model, prompts, new_tokens=32, temperature=0.8):
        self.model, self.prompts = model, prompts
        self.new_tokens, self.temperature = new_tokens, temperature
        self.cache, self.words = None, []

    def next_token(self):
        if self.cache is None:
            self.tokens = next(self.prompts).cuda()
        logits, self.cache = self.model(self.tokens, self.cache)
        self.tokens = torch.multinomial(F.softmax(logits / self.temperature, dim=-1), 1)
        self.words.append(self.tokens.cpu())
        if len(self.words) == self.new_tokens:
            print(torch.cat(self.words, dim=1).shape)
            self.cache, self.words = None, []


def prompts(batch=8, length=16):
    while True:
        yield torch.randint(0, 1000, (batch, length))


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    sampler = Sampler(Generator().cuda().eval(), prompts())
    for _ in range(args.steps):
        torch.cuda.synchronize()  # step
        sampler.next_token()


if __name__ == "__main__":
    main()
