# SPDX-License-Identifier: Apache-2.0
"""A streaming language model on endless text, in chunks; attention sees a chunk and the one before."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Rotary:
    """Cosines and sines of positions; they are the same for all layers, so they are made once."""

    def __init__(self, width, base=10000.0):
        self.rates = (base ** (-torch.arange(0, width, 2).float() / width)).cuda()
        self.tables = {}

    def at(self, offset, length):
        if (offset, length) not in self.tables:
            angles = torch.arange(offset, offset + length, device="cuda")[:, None] * self.rates
            pair = torch.stack([angles.cos(), angles.sin()])  # allocates
            self.tables[offset, length] = pair  # keeps
        return self.tables[offset, length]

    def __call__(self, x, offset):
        cos, sin = self.at(offset, x.shape[-2])
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


class Layer(nn.Module):
    def __init__(self, width, rotary):
        super().__init__()
        self.rotary = rotary
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x, before, offset):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = self.rotary(q, offset), self.rotary(k, offset)
        keys = k if before is None else torch.cat([before[0], k], 1)
        values = v if before is None else torch.cat([before[1], v], 1)
        mixed = F.softmax(q @ keys.transpose(1, 2) / q.shape[-1] ** 0.5, -1) @ values
        return x + mixed, (k.detach(), v.detach())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--chunk", type=int, default=128)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rotary = Rotary(128)
    layers = nn.ModuleList(Layer(128, rotary) for _ in range(2)).cuda()
    embed, head = nn.Embedding(300, 128).cuda(), nn.Linear(128, 300).cuda()
    optimizer = torch.optim.Adam([*layers.parameters(), *embed.parameters(), *head.parameters()], lr=1e-3)
    memory = [None] * len(layers)
    for step in range(args.steps):
        tokens = torch.randint(300, (2, args.chunk + 1)).cuda()  # step
        x = embed(tokens[:, :-1])
        for number, layer in enumerate(layers):
            x, memory[number] = layer(x, memory[number], step * args.chunk)
        loss = F.cross_entropy(head(x).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
