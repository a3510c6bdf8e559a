# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation as one sum: six losses wait with their graphs, and one backward call takes them all."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Trainer:
    def __init__(self, every=6):
        self.net = nn.Sequential(nn.Conv2d(3, 20, 3, padding=1), nn.BatchNorm2d(20), nn.ReLU(),
                                 nn.Conv2d(20, 4, 3, padding=1)).cuda()
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.every, self.losses = every, []

    def micro_step(self, pictures, masks):
        answers = self.net(pictures)  # fills
        self.losses.append(F.cross_entropy(answers, masks))
        if len(self.losses) == self.every:
            (sum(self.losses) / self.every).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.losses.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer = Trainer()
    for _ in range(args.steps):
        pictures = torch.rand(4, 3, 48, 48).cuda()  # step
        trainer.micro_step(pictures, torch.randint(4, (4, 48, 48)).cuda())
    print(f"{len(trainer.losses)} losses wait")


if __name__ == "__main__":
    main()
