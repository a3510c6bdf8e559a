# SPDX-License-Identifier: Apache-2.0
"""Trains two layers of attention that keep their scores: memory grows with the square of the length.

Prints the most that was allocated, as PyTorch counts it."""

import argparse

import torch
from torch import nn

WIDTH, HEADS = 256, 8

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=1)
parser.add_argument("--length", type=int, default=128)
chosen = parser.parse_args()


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        scores = (q @ k.transpose(-1, -2)).softmax(-1)
        return x + self.out((scores @ v).transpose(1, 2).flatten(2))


model = nn.Sequential(Layer(), Layer()).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(5):
    x = torch.zeros(chosen.batch_size, chosen.length, WIDTH, device="cuda")
    model(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
print(torch.cuda.max_memory_allocated())
