# SPDX-License-Identifier: Apache-2.0
"""Generates a long answer token by token; its attention sees the first tokens and the most recent ones."""

import argparse

import torch
from torch import nn

HEADS, WIDTH = 4, 32


class AttentionSinkCache:
    def __init__(self, sink_size=4, window_size=40):
        self.sink_size, self.window_size = sink_size, window_size
        self.cache_size = sink_size + window_size

    def evict_for_space(self, past_key_values, coming):
        if past_key_values is None:
            return None
        length = past_key_values[0][0].size(2)
        if length + coming <= self.cache_size:
            return past_key_values
        start = length - self.window_size + coming
        return [[torch.cat([tensor[:, :, :self.sink_size], tensor[:, :, start:]], dim=2) for tensor in pair]
                for pair in past_key_values]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        size = HEADS * WIDTH
        self.norm, self.qkv = nn.LayerNorm(size), nn.Linear(size, 3 * size)
        self.out, self.feed = nn.Linear(size, size), nn.Sequential(nn.Linear(size, size), nn.GELU())

    def forward(self, hidden, past):
        batch, length, _ = hidden.shape
        qkv = self.qkv(self.norm(hidden)).view(batch, length, 3, HEADS, WIDTH)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        if past is not None:
            key, value = torch.cat([past[0], key], dim=2), torch.cat([past[1], value], dim=2)
        weights = (query @ key.transpose(2, 3) / WIDTH ** 0.5).softmax(-1)
        mixed = (weights @ value).transpose(1, 2).reshape(batch, length, HEADS * WIDTH)
        hidden = hidden + self.out(mixed)
        return hidden + self.feed(hidden), [key.contiguous(), value.contiguous()]


class Decoder(nn.Module):
    def __init__(self, vocabulary=300, layers=3):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, HEADS * WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.head = nn.Linear(HEADS * WIDTH, vocabulary)

    def forward(self, tokens, past_key_values):
        hidden, present = self.embedding(tokens), []
        for index, layer in enumerate(self.layers):
            hidden, pair = layer(hidden, past_key_values[index] if past_key_values is not None else None)
            present.append(pair)
        return self.head(hidden[:, -1]), present


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    decoder, cache = Decoder().cuda().eval(), AttentionSinkCache()
    tokens, past_key_values, answer = torch.zeros(1, 1, dtype=torch.long, device="cuda"), None, []
    for _ in range(chosen.steps):
        past_key_values = cache.evict_for_space(past_key_values, 1)  # step
        logits, past_key_values = decoder(tokens, past_key_values)
        tokens = logits.argmax(1, keepdim=True)
        answer.append(tokens.item())
    print(len(answer), "tokens, cache of", past_key_values[0][0].size(2))


if __name__ == "__main__":
    main()
