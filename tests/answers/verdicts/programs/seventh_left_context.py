# SPDX-License-Identifier: Apache-2.0
"""Encodes a stream of speech chunk by chunk; each layer attends to the last 24 frames beside the chunk's own."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, CHUNK = 64, 4, 8


class StreamingLayer(nn.Module):
    def __init__(self, context=24):
        super().__init__()
        self.context = context
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key_value = nn.Linear(WIDTH, 2 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.left = None

    def heads(self, frames):
        return frames.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)

    def remember(self, chunk):
        """Frames to attend to: those to the left and the chunk's."""
        seen = chunk.clone() if self.left is None else torch.cat([self.left, chunk], 1)  # allocates
        self.left = seen[-self.context:]  # keeps
        return seen

    def forward(self, chunk):
        seen = self.remember(chunk)
        keys, values = self.key_value(seen).chunk(2, -1)
        mixed = F.scaled_dot_product_attention(self.heads(self.query(chunk)), self.heads(keys), self.heads(values))
        return self.norm(chunk + self.out(mixed.transpose(1, 2).flatten(2)))


class Encoder(nn.Module):
    def __init__(self, mels=40, depth=2):
        super().__init__()
        self.front = nn.Linear(mels, WIDTH)
        self.layers = nn.ModuleList(StreamingLayer() for _ in range(depth))
        self.units = nn.Linear(WIDTH, 30)

    def forward(self, mels):
        hidden = self.front(mels)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.units(hidden).argmax(-1)


@torch.no_grad()
def listen(encoder, chunks, streams=2):
    heard = 0
    for _ in range(chunks):
        mels = torch.randn(streams, CHUNK, 40, device="cuda")  # step
        heard += encoder(mels).count_nonzero().item()
    return heard


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    encoder = Encoder().cuda().eval()
    print("units that are not blank:", listen(encoder, chosen.steps))


if __name__ == "__main__":
    main()
