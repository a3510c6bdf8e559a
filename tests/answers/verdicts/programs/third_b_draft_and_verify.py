# SPDX-License-Identifier: Apache-2.0
"""Speculative decoding: a draft of five words a step is verified, what is refused is cut off both caches."""

import argparse
import random

import torch
from torch import nn

DRAFT, LONGEST = 5, 48


class Cached(nn.Module):
    def __init__(self, width, words=300):
        super().__init__()
        self.embed, self.mix = nn.Embedding(words, width), nn.Linear(width, 2 * width)
        self.past = None

    def forward(self, text):
        new = self.mix(self.embed(text))
        self.past = new if self.past is None else torch.cat([self.past, new], 1)  # fills
        keys, values = self.past.chunk(2, -1)
        mixed = (self.embed(text) @ keys.transpose(1, 2)).softmax(-1) @ values
        return mixed @ self.embed.weight.T

    def cut(self, length):
        self.past = self.past[:, :length].clone()  # fills


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    small, large = Cached(64).cuda().eval(), Cached(256).cuda().eval()
    length, answers = 0, 0
    with torch.no_grad():
        for _ in range(args.steps):
            word = torch.randint(300, (12, 1), device="cuda")  # step
            text = [word]
            for _ in range(DRAFT):
                word = small(word)[:, -1:].argmax(-1)
                text.append(word)
            small(word)
            large(torch.cat(text, 1))
            length += rng.randint(2, DRAFT + 1)  # how many a user would have accepted
            small.cut(length)
            large.cut(length)
            if length >= LONGEST:
                small.past = large.past = None
                length, answers = 0, answers + 1
    print(f"{answers} answers, {length} words of another")


if __name__ == "__main__":
    main()
