# SPDX-License-Identifier: Apache-2.0
"""A contrastive loss over eight small batches: their embeddings wait until all are there, then the weights move."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Gathering:
    def __init__(self, net, optimizer, batches=8):
        self.net, self.optimizer, self.batches = net, optimizer, batches
        self.left, self.right = [], []

    def add(self, rows):
        left = self.net(rows)  # fills
        right = self.net(rows + 0.05 * torch.randn_like(rows))  # fills
        self.left.append(left)
        self.right.append(right)
        return self.learn() if len(self.left) == self.batches else None

    def learn(self):
        left, right = F.normalize(torch.cat(self.left)), F.normalize(torch.cat(self.right))
        loss = F.cross_entropy(left @ right.T / 0.1, torch.arange(len(left), device="cuda"))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.left.clear()
        self.right.clear()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(70, 300), nn.ReLU(), nn.Linear(300, 64)).cuda()
    gathering = Gathering(net, torch.optim.AdamW(net.parameters()))
    for step in range(args.steps):
        loss = gathering.add(torch.randn(48, 70, device="cuda"))  # step
        if loss is not None:
            print(f"step {step}: loss {loss:.3f}")


if __name__ == "__main__":
    main()
