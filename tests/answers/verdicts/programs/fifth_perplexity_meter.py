# SPDX-License-Identifier: Apache-2.0
"""A language model that is evaluated every third step on two batches."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.sum = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.sum = self.sum + value * n  # keeps
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


class NextToken(nn.Module):
    def __init__(self, vocabulary=1000, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.up = nn.Linear(width, 2 * width)
        self.head = nn.Linear(2 * width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)  # allocates
        wide = self.up(x)  # allocates
        active = F.gelu(wide)  # allocates
        return self.head(active)


def loss_of(model, tokens):
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = NextToken().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    train_loss, val_loss = AverageMeter("train"), AverageMeter("validation")
    for step in range(args.steps):
        tokens = torch.randint(1000, (8, 33)).cuda()  # step
        loss = loss_of(model, tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_loss.update(loss.item(), len(tokens))
        if step % 3 == 0:
            model.eval()
            for _ in range(2):
                held_out = torch.randint(1000, (8, 33)).cuda()
                val_loss.update(loss_of(model, held_out), len(held_out))
            model.train()
            print(step, train_loss.avg, float(val_loss.avg))


if __name__ == "__main__":
    main()
