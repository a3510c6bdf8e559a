# SPDX-License-Identifier: Apache-2.0
"""A decoder that the serving programs share. Where its keys and values are kept is the caller's: a
cache has `update(layer, key, value)`, which returns all that is to be attended to."""

import torch
from torch import nn

VOCABULARY, WIDTH, HEADS, LAYERS = 4000, 256, 8, 4
HEAD = WIDTH // HEADS


class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def attention(self, hidden, cache):
        batch, length, _ = hidden.shape
        query, key, value = (part.view(batch, length, HEADS, HEAD).transpose(1, 2)
                             for part in self.project(hidden).chunk(3, dim=-1))
        key, value = cache.update(self.number, key, value)
        place = key.shape[2] - length
        mask = torch.ones(length, key.shape[2], dtype=torch.bool, device=key.device).tril(place)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, hidden, cache):
        hidden = hidden + self.attention(self.before(hidden), cache)
        return hidden + self.mlp(self.between(hidden))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer(number) for number in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, cache):
        hidden = self.tokens(tokens)
        for layer in self.layers:
            hidden = layer(hidden, cache)
        return self.head(hidden[:, -1])
