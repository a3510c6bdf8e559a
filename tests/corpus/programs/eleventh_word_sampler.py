# SPDX-License-Identifier: Apache-2.0
"""Writes on from a prompt, a token at a time, with the keys and values of the tokens before."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, past):
        q, k, v = (self.split(part) for part in self.qkv(self.norm_1(x)).chunk(3, dim=-1))  # allocates
        if past is not None:
            k = torch.cat([past[0], k], dim=2)  # allocates
            v = torch.cat([past[1], v], dim=2)  # allocates
        weights = F.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)  # allocates
        seen = (weights @ v).transpose(1, 2).reshape(x.shape)  # allocates
        x = x + self.out(seen)  # allocates
        x = x + self.down(F.gelu(self.up(self.norm_2(x))))  # allocates
        return x, (k, v)


class Model(nn.Module):
    def __init__(self, words=512, width=128, layers=3, heads=4):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens, past_key_values=None):
        x = self.embed(tokens)  # allocates
        past = past_key_values or [None] * len(self.blocks)
        present = []
        for block, one in zip(self.blocks, past, strict=True):
            x, kept = block(x, one)
            present.append(kept)
        return self.norm(x[:, -1]) @ self.embed.weight.T, present  # allocates

    def choose(self, logits):
        return F.log_softmax(logits, dim=-1).max(dim=-1)  # allocates

    def generate(self, prompt, steps):
        logits, past_key_values = self(prompt)
        written, score = [], 0.0
        for _ in range(steps):
            best = self.choose(logits)  # step
            score = score + best.values.sum()
            token = best.indices[:, None]
            written.append(token)
            logits, past_key_values = self(token, past_key_values)  # keeps
        return torch.cat(written, dim=1), score.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Model().cuda().eval()
    prompt = torch.zeros(2, 8, dtype=torch.long, device="cuda")
    written, score = model.generate(prompt, chosen.steps)
    print(f"{written.shape[1]} tokens, score {score:.2f}")


if __name__ == "__main__":
    main()
