# SPDX-License-Identifier: Apache-2.0
"""Texts get longer by sixteen words every third step, up to 256."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=57)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Schedule:
    def __init__(self, first=32, last=256, more=16, every=3):
        self.first, self.last, self.more, self.every = first, last, more, every

    def __call__(self, step):
        return min(self.first + self.more * (step // self.every), self.last)


def main():
    model = nn.Sequential(nn.Embedding(2000, 128), nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 500)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    length = Schedule()
    for step in range(options.steps):
        tokens = torch.randint(0, 500, (8, length(step))).cuda()  # step
        logits = model(tokens)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
