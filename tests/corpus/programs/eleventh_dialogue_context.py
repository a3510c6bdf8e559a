# SPDX-License-Identifier: Apache-2.0
"""A dialogue that grows turn by turn, run anew through a model with rotary embeddings at each turn."""

import argparse
import random

import torch
from torch import nn

WORDS, HEADS, HEAD = 200, 4, 64
WIDTH = HEADS * HEAD


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, dim, 2).float() / dim), persistent=False)
        self.max_seq_len_cached = None

    def set_cos_sin_cache(self, seq_len, device, dtype):
        self.max_seq_len_cached = seq_len
        t = torch.arange(seq_len, device=device, dtype=self.inv_freq.dtype)
        freqs = torch.outer(t, self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        self.register_buffer("cos_cached", emb.cos().to(dtype), persistent=False)
        self.register_buffer("sin_cached", emb.sin().to(dtype), persistent=False)

    def forward(self, x, seq_len):
        if self.max_seq_len_cached is None or seq_len > self.max_seq_len_cached:
            self.set_cos_sin_cache(seq_len, x.device, x.dtype)
        return self.cos_cached[:seq_len], self.sin_cached[:seq_len]


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.rotary = RotaryEmbedding(HEAD)

    def forward(self, x):
        tokens = x.shape[0]
        q, k, v = self.qkv(x).view(tokens, 3, HEADS, HEAD).permute(1, 2, 0, 3)
        cos, sin = self.rotary(v, seq_len=tokens)
        weights = torch.softmax(rotate(q, cos, sin) @ rotate(k, cos, sin).transpose(1, 2) / HEAD ** 0.5, dim=-1)
        return self.out((weights @ v).transpose(0, 1).reshape(tokens, WIDTH))


class Model(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS)
        self.layers = nn.ModuleList(Attention() for _ in range(layers))

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x[-1])


@torch.no_grad()
def answer(model, dialogue):
    return model(torch.tensor(dialogue, device="cuda"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--max-position-embeddings", type=int, default=960)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    model = Model(layers=3).cuda().eval()
    dialogue = [rng.randrange(WORDS) for _ in range(64)]
    for _ in range(chosen.steps):
        dialogue += [rng.randrange(WORDS) for _ in range(rng.randrange(36, 48))]  # step
        dialogue = dialogue[-chosen.max_position_embeddings:]
        scores = answer(model, dialogue)
    print(f"{len(dialogue)} tokens, highest score {scores.max().item():.4f}")


if __name__ == "__main__":
    main()
