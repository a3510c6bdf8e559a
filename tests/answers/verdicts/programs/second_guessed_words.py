# SPDX-License-Identifier: Apache-2.0
"""Speculative decoding: three words are guessed, two of them taken, the cache is cut back; five rounds an answer."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Decoder(nn.Module):
    def __init__(self, words=150, width=256):
        super().__init__()
        self.embed, self.mix = nn.Embedding(words, width), nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, words)

    def forward(self, words, cache):
        query, key, value = self.mix(self.embed(words)).chunk(3, -1)
        for name, new in (("keys", key), ("values", value)):
            cache[name] = torch.cat([cache[name], new], 1) if name in cache else new.clone()  # fills
        return self.out(F.scaled_dot_product_attention(query, cache["keys"], cache["values"]))


def cut(cache, length):
    for name, value in cache.items():
        cache[name] = value[:, :length].clone()


@torch.inference_mode()
def answer(decoder, prompt, rounds):
    cache, words = {}, decoder(prompt, {})[:, -1:].argmax(-1)
    decoder(prompt, cache)
    for _ in range(rounds):
        length = cache["keys"].shape[1]  # step
        guessed = words.repeat(1, 3)
        words = decoder(guessed, cache)[:, 1:2].argmax(-1)
        cut(cache, length + 2)
    return length + 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    decoder, said = Decoder().cuda().eval(), 0
    for begin in range(0, args.steps, 5):
        prompt = torch.randint(150, (8, 12)).cuda()
        said += answer(decoder, prompt, min(5, args.steps - begin))
    print(f"{said} words")


if __name__ == "__main__":
    main()
