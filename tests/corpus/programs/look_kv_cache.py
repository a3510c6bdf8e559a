# SPDX-License-Identifier: Apache-2.0
"""Answers prompts one after the other; a request's keys and values go when it is answered."""

import argparse
import random

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads, self.project, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, hidden, past):
        batch, new, width = hidden.shape
        query, key, value = (
            part.view(batch, new, self.heads, -1).transpose(1, 2) for part in self.project(hidden).chunk(3, -1)
        )
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)  # fills
        seen = nn.functional.scaled_dot_product_attention(query, key, value)
        return hidden + self.out(seen.transpose(1, 2).reshape(batch, new, width)), (key, value)


class Writer(nn.Module):
    def __init__(self, words=2000, width=128, layers=2):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, width), nn.Linear(width, words)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))

    def forward(self, tokens, cache):
        hidden = self.embed(tokens)
        for number, layer in enumerate(self.layers):
            hidden, cache[number] = layer(hidden, cache[number])
        return self.out(hidden[:, -1:]).argmax(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = Writer().cuda().eval()
    with torch.inference_mode():
        for request in range(chosen.steps):
            token = torch.randint(2000, (1, rng.randrange(32, 257)), device="cuda")
            cache, answer = [None, None], []
            for _ in range(rng.randrange(4, 13)):
                token = model(token, cache)
                answer.append(token.item())


if __name__ == "__main__":
    main()
