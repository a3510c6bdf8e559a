# SPDX-License-Identifier: Apache-2.0
"""Lets a language model write on and on: it attends to the first tokens of the text and to the most recent ones."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class StartRecentCache:
    def __init__(self, start_size=4, recent_size=40):
        self.start_size, self.recent_size = start_size, recent_size

    def cut(self, entry, coming):
        length = entry.shape[2]
        recent = entry[:, :, length - self.recent_size + coming:]
        return torch.cat([entry[:, :, :self.start_size], recent], 2)

    def evict_for_space(self, past, coming):
        if past is None or past[0][0].shape[2] + coming <= self.start_size + self.recent_size:
            return past
        return [(self.cut(key, coming), self.cut(value, coming)) for key, value in past]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, past):
        query, key, value = (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, 2))
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        scores = query @ key.transpose(2, 3) / query.shape[3] ** 0.5
        mixed = F.softmax(scores, 3) @ value
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.feed(x), (key, value)


class Model(nn.Module):
    def __init__(self, words=256, width=128, heads=4, layers=3):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.words = nn.Linear(width, words)

    def forward(self, tokens, past):
        x, present = self.embedding(tokens), []
        for number, block in enumerate(self.blocks):
            x, entry = block(x, None if past is None else past[number])
            present.append(entry)
        return self.words(x[:, -1:]).argmax(2), present


@torch.no_grad()
def write(model, cache, prompt, steps):
    token, past = model(prompt, None)
    for _ in range(steps):
        past = cache.evict_for_space(past, 1)  # step
        token, past = model(token, past)
    return past


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    prompt = torch.randint(256, (4, 6), device="cuda")
    past = write(Model().cuda().eval(), StartRecentCache(), prompt, chosen.steps)
    print("attends to", past[0][0].shape[2], "tokens")


if __name__ == "__main__":
    main()
