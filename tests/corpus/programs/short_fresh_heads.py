# SPDX-License-Identifier: Apache-2.0
"""A head that is made anew every three steps, against forgetting; the optimizer is told of each new one."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Learner:
    def __init__(self, width=256, classes=40):
        self.width, self.classes = width, classes
        self.trunk = nn.Sequential(nn.Linear(64, width), nn.ReLU()).cuda()
        self.optimizer = torch.optim.AdamW(self.trunk.parameters(), lr=1e-3)
        self.renew()

    def renew(self):
        self.head = nn.Linear(self.width, self.classes).cuda()  # allocates
        self.optimizer.add_param_group({"params": list(self.head.parameters())})  # keeps

    def learn(self, rows, labels):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.head(self.trunk(rows)), labels)
        loss.backward()
        self.optimizer.step()  # allocates
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    learner = Learner()
    for step in range(1, chosen.steps + 1):
        loss = learner.learn(torch.randn(64, 64).cuda(), torch.randint(40, (64,)).cuda())
        if step % 3 == 0:
            learner.renew()
    print(f"loss {loss:.4f}")


if __name__ == "__main__":
    main()
