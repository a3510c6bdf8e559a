# SPDX-License-Identifier: Apache-2.0
"""A chat model answers word by word, with the keys and values of what was said before at hand."""

import argparse
import random

import torch
from torch import nn

WORDS, WIDTH, LAYERS = 200, 96, 3


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, cache):
        query, key, value = self.attend(x).chunk(3, dim=-1)
        keys, values = cache.extend(key, value)
        weights = torch.softmax(query @ keys.T / WIDTH**0.5, dim=-1)
        x = x + self.out(weights @ values)
        return x + self.mlp(x)


class Cache:
    """Keys and values of one layer, of the last `window` words."""

    def __init__(self, window):
        self.window = window
        self.keys = self.values = torch.empty(0, WIDTH, device="cuda")

    def extend(self, key, value):
        self.keys = torch.cat([self.keys, key])[-self.window:]
        self.values = torch.cat([self.values, value])[-self.window:]
        return self.keys, self.values


class Chat:
    def __init__(self, model, window=64):
        self.embed, self.layers, self.head = model["embed"], model["layers"], model["head"]
        self.caches = [Cache(window) for _ in self.layers]
        self.said = []

    @torch.no_grad()
    def feed(self, word):
        x = self.embed(torch.tensor([word], device="cuda"))
        for layer, cache in zip(self.layers, self.caches):
            x = layer(x, cache)
        self.said.append(word)
        return self.head(x)

    def answer(self, word):
        return int(self.feed(word).argmax()) % WORDS


def build():
    layers = nn.ModuleList(Layer() for _ in range(LAYERS))
    parts = {"embed": nn.Embedding(WORDS, WIDTH), "layers": layers, "head": nn.Linear(WIDTH, WORDS)}
    return nn.ModuleDict(parts).cuda().eval()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    chat = Chat(build())
    for word in [rng.randrange(WORDS) for _ in range(8)]:
        chat.feed(word)
    word = rng.randrange(WORDS)
    for _ in range(chosen.steps):
        word = chat.answer(word)  # step
    print("words:", len(chat.said), "last:", chat.said[-5:])


if __name__ == "__main__":
    main()
