# SPDX-License-Identifier: Apache-2.0
"""Transcribes a stream of audio in chunks of seven frames, with an encoder that is aware of the frames before them."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

LEFT_CONTEXT, CHUNK, KERNEL = 70, 7, 9


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width))
        self.depthwise = nn.Parameter(torch.randn(KERNEL, width) / KERNEL)

    def attend(self, x, cache):
        known = x if cache is None else torch.cat([cache, x], 1)
        mixed = F.softmax(self.query(x) @ self.key(known).transpose(1, 2) / x.shape[2] ** 0.5, 2) @ self.value(known)
        return x + self.out(mixed), known[:, -LEFT_CONTEXT:]

    def convolve(self, x, cache):
        if cache is None:
            cache = x.new_zeros(x.shape[0], KERNEL - 1, x.shape[2])
        padded = torch.cat([cache, x], 1)
        windows = padded.unfold(1, KERNEL, 1)
        return x + torch.einsum("btck,kc->btc", windows, self.depthwise), padded[:, 1 - KERNEL:]

    def forward(self, x, caches):
        x = x + self.feed(x)
        x, channel = self.attend(x, caches[0])
        x, time = self.convolve(x, caches[1])
        return x, (channel, time)


class Encoder(nn.Module):
    def __init__(self, mels=80, width=96, layers=3, tokens=64):
        super().__init__()
        self.subsample = nn.Linear(8 * mels, width)
        self.layers = nn.ModuleList([Layer(width) for _ in range(layers)])
        self.joint = nn.Linear(width, tokens)

    def start(self):
        return [(None, None) for _ in self.layers]

    def forward(self, mels, caches):
        x, later = self.subsample(mels), []
        for layer, cache in zip(self.layers, caches):
            x, cache = layer(x, cache)
            later.append(cache)
        return self.joint(x).argmax(2), later


@torch.inference_mode()
def transcribe(encoder, chunks):
    caches, tokens = encoder.start(), []
    for _ in range(chunks):
        mels = torch.randn(1, CHUNK, 8 * 80, device="cuda")  # step
        found, caches = encoder(mels, caches)
        tokens.extend(found[0].tolist())
    return tokens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    print(len(transcribe(Encoder().cuda().eval(), chosen.steps)), "frames")


if __name__ == "__main__":
    main()
