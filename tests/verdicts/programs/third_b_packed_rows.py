# SPDX-License-Identifier: Apache-2.0
"""Documents of uneven lengths are packed into rows of 512 words; rows that have room wait open, six at most."""

import argparse
import random

import torch
from torch import nn

ROW, OPEN = 512, 6


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
        fullest = max(self.open, key=lambda row: sum(map(len, row)))
        self.open.remove(fullest)
        return torch.cat(fullest)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng, packer = random.Random(args.seed), Packer()
    words = nn.Embedding(1000, 192).cuda()
    head = nn.Linear(192, 1000).cuda()
    optimizer = torch.optim.AdamW([*words.parameters(), *head.parameters()], lr=1e-3)
    for step in range(args.steps):
        ready = []  # step
        for _ in range(3):
            text = torch.randint(1000, (rng.choice((96, 160, 224, 288)),), device="cuda")
            row = packer.add(text)
            if row is not None:
                ready.append(row)
        optimizer.zero_grad()
        for row in ready:
            nn.functional.cross_entropy(head(words(row[:-1])), row[1:]).backward()
        if ready:
            optimizer.step()
    print(f"{len(packer.open)} rows wait")


if __name__ == "__main__":
    main()
