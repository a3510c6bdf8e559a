# SPDX-License-Identifier: Apache-2.0
"""Generation into static caches: one of full length for each bucket of batch sizes, made when it is first wanted."""

import argparse

import torch
from torch import nn

SIZES = (1, 2, 3, 4, 3, 6, 8, 5, 12, 16, 2, 9, 16)


class Decoder(nn.Module):
    def __init__(self, width=128, layers=3, longest=64):
        super().__init__()
        self.words, self.longest = nn.Embedding(300, width), longest
        self.layers = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(layers))
        self.caches = {}

    def cache(self, size):
        bucket = 1 << (size - 1).bit_length()
        if bucket not in self.caches:
            self.caches[bucket] = [torch.zeros(bucket, self.longest, 2 * layer.in_features, device="cuda")
                                   for layer in self.layers]
        return self.caches[bucket]

    @torch.no_grad()
    def generate(self, prompt, count):
        size, at = prompt.shape
        cache, word = self.cache(size), prompt[:, -1]
        for at in range(at, at + count):
            state = self.words(word)
            for layer, kept in zip(self.layers, cache):
                kept[:size, at] = layer(state)
                keys, values = kept[:size, :at + 1].chunk(2, -1)
                weights = (keys @ state.unsqueeze(-1)).softmax(1)
                state = state + (weights * values).sum(1)
            word = (state @ self.words.weight.T).argmax(-1)
        return word


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    decoder = Decoder().cuda().eval()
    for step in range(args.steps):
        size = SIZES[step % len(SIZES)]  # step
        decoder.generate(torch.randint(300, (size, 8), device="cuda"), 6).cpu()
    print("caches for", sorted(decoder.caches))


if __name__ == "__main__":
    main()
