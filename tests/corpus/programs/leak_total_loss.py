# SPDX-License-Identifier: Apache-2.0
"""Measures a classifier's loss over a data set, and forgets to switch gradients off."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, inputs=128, width=256, classes=10):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, rows):
        rows = torch.relu(self.first(rows))  # allocates
        rows = torch.relu(self.second(rows))  # allocates
        return self.head(rows)


def measure(model, batches):
    model.eval()
    total_loss = 0
    for count, (rows, labels) in enumerate(batches, 1):
        total_loss += F.cross_entropy(model(rows.cuda()), labels.cuda())  # keeps
        if count % 50 == 0:
            print(f"{count} batches, mean loss {total_loss.item() / count:.4f}")
    return total_loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    batches = ((torch.randn(64, 128), torch.randint(10, (64,))) for _ in range(chosen.steps))
    print(measure(Classifier().cuda(), batches).item())


if __name__ == "__main__":
    main()
