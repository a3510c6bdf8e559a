# SPDX-License-Identifier: Apache-2.0
"""Features of documents of uneven lengths are packed into rows of 512 words; rows with room wait, eight at most."""

import argparse
import random

import torch
from torch import nn

ROW, OPEN = 512, 8


class Packer:
    def __init__(self):
        self.open = []

    def add(self, states):
        fitting = [row for row in self.open if sum(map(len, row)) + len(states) <= ROW]
        if fitting:
            max(fitting, key=lambda row: sum(map(len, row))).append(states)
        else:
            self.open.append([states])
        if len(self.open) <= OPEN:
            return None
        fullest = max(range(len(self.open)), key=lambda place: sum(map(len, self.open[place])))
        return torch.cat(self.open.pop(fullest))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng, packer = random.Random(args.seed), Packer()
    encoder = nn.Embedding(1000, 192).cuda().requires_grad_(False)
    mix = nn.GRU(192, 192).cuda()
    optimizer = torch.optim.AdamW(mix.parameters(), lr=1e-3)
    for step in range(args.steps):
        ready = []  # step
        for _ in range(3):
            text = torch.randint(1000, (rng.choice((96, 160, 224, 288)),), device="cuda")
            row = packer.add(encoder(text))
            if row is not None:
                ready.append(row)
        optimizer.zero_grad()
        for row in ready:
            (mix(row[:-1])[0] - row[1:]).square().mean().backward()
        if ready:
            optimizer.step()
    print(f"{len(packer.open)} rows wait")


if __name__ == "__main__":
    main()
