# SPDX-License-Identifier: Apache-2.0
"""Logits of an epoch of thirty steps are listed for its confusion matrix; the run ends in the second epoch."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Confusion:
    def __init__(self, kinds):
        self.kinds, self.logits, self.labels = kinds, [], []

    def update(self, logits, labels):
        self.logits.append(logits)
        self.labels.append(labels)

    def compute(self):
        found = F.one_hot(torch.cat(self.logits).argmax(1), self.kinds).float()
        return F.one_hot(torch.cat(self.labels), self.kinds).float().T @ found

    def reset(self):
        self.logits.clear()
        self.labels.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=39)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(48, 96), nn.ReLU(), nn.Linear(96, 100)).cuda()
    optimizer, confusion = torch.optim.SGD(net.parameters(), lr=0.1), Confusion(100)
    for step in range(args.steps):
        rows = torch.randn(192, 48).cuda()  # step
        labels = torch.randint(100, (192,)).cuda()
        logits = net(rows)  # fills
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        confusion.update(logits.detach(), labels)
        if step % 30 == 29:
            print(confusion.compute().trace().item())
            confusion.reset()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
