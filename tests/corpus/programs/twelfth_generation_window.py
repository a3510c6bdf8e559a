# SPDX-License-Identifier: Apache-2.0
"""Generates text with a cache of keys and values of its own class, some tokens at a time."""

import argparse

import torch
from torch import nn


class SinkCache:
    """Keys and values of each layer: those of the first tokens, and of the last ones within the window."""

    def __init__(self, window_length, num_sink_tokens):
        self.window_length, self.num_sink_tokens = window_length, num_sink_tokens
        self.key_cache, self.value_cache = [], []

    def get_seq_length(self, layer=0):
        return self.key_cache[layer].shape[-2] if layer < len(self.key_cache) else 0

    def shortened(self, cached, new):
        kept = cached[:, :, -self.window_length + self.num_sink_tokens + new.shape[-2]:]
        return torch.cat([cached[:, :, :self.num_sink_tokens], kept, new], dim=-2)

    def update(self, keys, values, layer):
        if len(self.key_cache) <= layer:
            self.key_cache.append(keys)
            self.value_cache.append(values)
        elif keys.shape[-2] + self.get_seq_length(layer) <= self.window_length:
            self.key_cache[layer] = torch.cat([self.key_cache[layer], keys], dim=-2)
            self.value_cache[layer] = torch.cat([self.value_cache[layer], values], dim=-2)
        else:
            self.key_cache[layer] = self.shortened(self.key_cache[layer], keys)
            self.value_cache[layer] = self.shortened(self.value_cache[layer], values)
        return self.key_cache[layer], self.value_cache[layer]


class Attention(nn.Module):
    def __init__(self, layer, heads=2, width=64):
        super().__init__()
        self.layer, self.heads, self.width = layer, heads, width
        self.project, self.out = nn.Linear(heads * width, 3 * heads * width), nn.Linear(heads * width, heads * width)

    def forward(self, hidden, cache):
        batch, length, size = hidden.shape
        query, keys, values = (part.reshape(batch, length, self.heads, self.width).transpose(1, 2).contiguous()
                               for part in self.project(hidden).chunk(3, dim=-1))
        keys, values = cache.update(keys, values, self.layer)
        weights = (query @ keys.transpose(2, 3) / self.width ** 0.5).softmax(-1)
        return hidden + self.out((weights @ values).transpose(1, 2).reshape(batch, length, size))


@torch.no_grad()
def generate(embedding, layers, head, tokens, cache, count):
    """This many tokens more."""
    for _ in range(count):
        hidden = embedding(tokens)
        for layer in layers:
            hidden = layer(hidden, cache)
        tokens = head(hidden[:, -1:]).argmax(-1)
    return tokens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    embedding, head = nn.Embedding(200, 128).cuda(), nn.Linear(128, 200).cuda()
    layers = nn.ModuleList(Attention(index) for index in range(4)).cuda()
    cache = SinkCache(window_length=88, num_sink_tokens=4)
    tokens = torch.zeros(2, 1, dtype=torch.long, device="cuda")
    for sentence in range(chosen.steps):
        tokens = generate(embedding, layers, head, tokens, cache, 4)  # step
        print(f"sentence {sentence}: {cache.get_seq_length()} tokens in the cache")


if __name__ == "__main__":
    main()
