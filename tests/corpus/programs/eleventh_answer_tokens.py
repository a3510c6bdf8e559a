# SPDX-License-Identifier: Apache-2.0
"""Answers prompts token by token, each time from the whole text so far, with a model that keeps its rotary angles."""

import argparse
import random

import torch
from torch import nn

WORDS, HEADS, HEAD = 150, 1, 512
WIDTH = HEADS * HEAD


class RotaryEmbedding(nn.Module):
    def __init__(self, head_dim, base=150000.0):
        super().__init__()
        self.head_dim, self.base = head_dim, base
        self._cached_cos_sin, self._cached_seq_len = None, 0

    def _compute_cos_sin(self, num_tokens):
        powers = torch.arange(0, self.head_dim, 2, dtype=torch.float32, device="cuda") / self.head_dim
        angles = torch.outer(torch.arange(num_tokens, dtype=torch.float32, device="cuda"), 1.0 / self.base ** powers)
        return angles.cos(), angles.sin()

    def _get_cos_sin(self, num_tokens):
        if self._cached_cos_sin is None or num_tokens > self._cached_seq_len:
            self._cached_cos_sin = self._compute_cos_sin(num_tokens)
            self._cached_seq_len = num_tokens
        cos, sin = self._cached_cos_sin
        return cos[:num_tokens], sin[:num_tokens]

    def forward(self, query, key):
        cos, sin = self._get_cos_sin(query.shape[1])
        return self.turn(query, cos, sin), self.turn(key, cos, sin)

    @staticmethod
    def turn(x, cos, sin):
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.rope = RotaryEmbedding(HEAD)

    def forward(self, x):
        query, key, value = self.qkv(x).view(len(x), 3, HEADS, HEAD).permute(1, 2, 0, 3)
        query, key = self.rope(query, key)
        weights = torch.softmax(query @ key.transpose(1, 2) / HEAD ** 0.5, dim=-1)
        return x + self.out((weights @ value).transpose(0, 1).reshape(len(x), WIDTH))


class Transformer(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, ids):
        return self.head(self.blocks(self.words(ids)))


class TokenGenerator:
    def __init__(self, model, rng):
        self.model, self.rng = model, rng

    @torch.no_grad()
    def generate(self, prompt_tokens, max_tokens):
        tokens = list(prompt_tokens)
        while len(tokens) < max_tokens:
            length = len(tokens)  # step
            logits = self.model(torch.tensor(tokens, device="cuda"))[-1]
            tokens.append(self.rng.randrange(WORDS))
            yield length, logits


def answers(generator, max_tokens):
    """Tokens of one answer after the other."""
    while True:
        prompt = [generator.rng.randrange(WORDS) for _ in range(generator.rng.randrange(6, 12))]
        yield from generator.generate(prompt, max_tokens)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=26)
    parser.add_argument("--max-tokens", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    generator = TokenGenerator(Transformer(layers=4).cuda().eval(), random.Random(chosen.seed))
    tokens = answers(generator, chosen.max_tokens)
    for _ in range(chosen.steps):
        length, logits = next(tokens)
    print(f"the last token came after {length}, its highest score was {logits.max().item():.4f}")


if __name__ == "__main__":
    main()
