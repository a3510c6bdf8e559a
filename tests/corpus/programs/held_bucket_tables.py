# SPDX-License-Identifier: Apache-2.0
"""Random lengths are padded to eight buckets; each bucket has its table of distances, made when first met."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F

class Attention(nn.Module):
    def __init__(self, width=32, bucket=24):
        super().__init__()
        self.bucket, self.tables = bucket, {}
        self.project, self.slope = nn.Linear(width, 3 * width), nn.Parameter(torch.tensor(0.1))

    def table(self, length):
        if length not in self.tables:
            places = torch.arange(length, device="cuda")
            self.tables[length] = -(places[:, None] - places).abs().float()
        return self.tables[length]

    def forward(self, words):
        padding = -words.shape[1] % self.bucket
        words = F.pad(words, (0, 0, 0, padding))
        query, key, value = self.project(words).chunk(3, -1)
        scores = query @ key.transpose(1, 2) / 32 ** 0.5 + self.slope * self.table(words.shape[1])
        return scores.softmax(-1) @ value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    attention, head = Attention().cuda(), nn.Linear(32, 5).cuda()
    optimizer = torch.optim.AdamW([*attention.parameters(), *head.parameters()])
    for step in range(chosen.steps):
        words, labels = torch.randn(4, rng.randrange(1, 193), 32).cuda(), torch.randint(5, (4,)).cuda()
        optimizer.zero_grad()
        F.cross_entropy(head(attention(words).mean(1)), labels).backward()
        optimizer.step()
    print(f"{len(attention.tables)} tables")


if __name__ == "__main__":
    main()
