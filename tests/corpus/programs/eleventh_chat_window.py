# SPDX-License-Identifier: Apache-2.0
"""Generates text token by token, with keys and values of the text so far in each layer."""

import argparse
import random

import torch
from torch import nn

WORDS, WIDTH, HEADS, LAYERS = 128, 64, 4, 2


class RollingKV:
    def __init__(self, window, sink):
        self.window, self.sink = window, sink
        self.k = self.v = None

    def step(self, k_new, v_new):
        if self.k is None:
            self.k, self.v = k_new, v_new
        else:
            self.k = torch.cat([self.k, k_new], dim=2)
            self.v = torch.cat([self.v, v_new], dim=2)
        if self.k.size(2) > self.window + self.sink:
            self.k = torch.cat([self.k[:, :, :self.sink], self.k[:, :, -self.window:]], dim=2)
            self.v = torch.cat([self.v[:, :, :self.sink], self.v[:, :, -self.window:]], dim=2)
        return self.k, self.v


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, cache):
        batch, tokens, _ = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        k, v = cache.step(k, v)
        weights = torch.softmax(q @ k.transpose(2, 3) / (WIDTH // HEADS) ** 0.5, dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, tokens, WIDTH))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS)
        self.attention = nn.ModuleList(Attention() for _ in range(LAYERS))
        self.feed = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.SiLU(), nn.Linear(2 * WIDTH, WIDTH))
                                  for _ in range(LAYERS))

    def forward(self, ids, caches):
        x = self.words(ids)
        for attention, feed, cache in zip(self.attention, self.feed, caches):
            x = x + attention(x, cache)
            x = x + feed(x)
        return self.head(x[:, -1])


@torch.no_grad()
def generate(model, prompt, tokens, window, sink, rng):
    caches = [RollingKV(window, sink) for _ in range(LAYERS)]
    model(torch.tensor([prompt], device="cuda"), caches)
    ids = list(prompt)
    for _ in range(tokens):
        ids.append(rng.randrange(WORDS))  # step
        logits = model(torch.tensor([ids[-1:]], device="cuda"), caches)
    return ids, logits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=55)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--sink", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    prompt = [rng.randrange(WORDS) for _ in range(8)]
    model = Model().cuda().eval()
    ids, logits = generate(model, prompt, chosen.steps, chosen.window, chosen.sink, rng)
    print(f"{len(ids)} tokens, highest score {logits.max().item():.4f}")


if __name__ == "__main__":
    main()
