# SPDX-License-Identifier: Apache-2.0
"""Trains a language model over the segments of a long text, with the hidden states of segments before it."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x, memory):
        seen = x if memory is None else torch.cat([memory, x], dim=0)
        q, k, v = (part.transpose(0, 1) for part in (self.query(x), self.key(seen), self.value(seen)))
        weights = torch.softmax(q @ k.transpose(1, 2) / x.shape[-1] ** 0.5, dim=-1)
        return self.norm(x + self.out((weights @ v).transpose(0, 1)))


class Model(nn.Module):
    def __init__(self, words=200, width=64, layers=3, memory_length=160, reuse_length=16):
        super().__init__()
        self.memory_length, self.reuse_length = memory_length, reuse_length
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def cache_memory(self, hidden, memory):
        if self.reuse_length:
            hidden = hidden[:self.reuse_length]
        if memory is None:
            renewed = hidden[-self.memory_length:]
        else:
            renewed = torch.cat([memory, hidden], dim=0)[-self.memory_length:]
        return renewed.detach()

    def forward(self, tokens, memories=None):
        x = self.embed(tokens)
        memories = memories or [None] * len(self.layers)
        renewed = []
        for layer, memory in zip(self.layers, memories, strict=True):
            renewed.append(self.cache_memory(x, memory))
            x = layer(x, memory)
        return self.head(x), renewed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Model().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    memories = None
    for _ in range(chosen.steps):
        text = torch.zeros(17, 8, dtype=torch.long, device="cuda")  # step
        scores, memories = model(text[:-1], memories)
        loss = F.cross_entropy(scores.flatten(0, 1), text[1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {memories[0].shape[0]} states")


if __name__ == "__main__":
    main()
