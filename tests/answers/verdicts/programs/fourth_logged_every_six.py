# SPDX-License-Identifier: Apache-2.0
"""Losses of words are read from the GPU every six steps, as reading makes the program wait."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=18)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Log:
    def __init__(self, every):
        self.every, self.waiting = every, []

    def add(self, losses):
        self.waiting.append(losses)
        if len(self.waiting) == self.every:
            print(torch.stack(self.waiting).mean().item())
            self.waiting.clear()


def main():
    model = nn.Sequential(nn.Embedding(300, 64), nn.Linear(64, 300)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    log = Log(every=6)
    for _ in range(options.steps):
        tokens = torch.randint(0, 300, (32, 512)).cuda()  # step
        logits = model(tokens[:, :-1])
        losses = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")  # fills
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        log.add(losses.detach())


main()
