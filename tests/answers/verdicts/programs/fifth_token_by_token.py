# SPDX-License-Identifier: Apache-2.0
"""Writes text token by token; keys and values of a request are kept until it has all its tokens."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x, past):
        q, k, v = self.qkv(x).chunk(3, -1)
        if past is not None:
            k = torch.cat([past[0], k], 1)  # fills
            v = torch.cat([past[1], v], 1)  # fills
        return x + F.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, -1) @ v, (k, v)


class Writer(nn.Module):
    def __init__(self, vocabulary=500, width=256, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, past):
        x = self.embed(tokens)
        present = []
        for layer, before in zip(self.layers, past):
            x, kept = layer(x, before)
            present.append(kept)
        return self.head(x[:, -1]).argmax(-1, keepdim=True), present


class Generation:
    def __init__(self, model, max_new_tokens):
        self.model, self.max_new_tokens = model, max_new_tokens
        self.start()

    def start(self):
        self.written = 0
        self.tokens = torch.randint(500, (8, 4)).cuda()
        self.past = [None] * len(self.model.layers)

    def step(self):
        if self.written == self.max_new_tokens:
            self.start()
        self.tokens, self.past = self.model(self.tokens, self.past)
        self.written += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-new-tokens", type=int, default=16)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    generation = Generation(Writer().cuda().eval(), args.max_new_tokens)
    with torch.inference_mode():
        for _ in range(args.steps):
            generation.step()  # step


if __name__ == "__main__":
    main()
