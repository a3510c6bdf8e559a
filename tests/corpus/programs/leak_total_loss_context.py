# SPDX-License-Identifier: Apache-2.0
"""A dropout of its own keeps the mask on its context, and the mean loss keeps every graph."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class ScaledDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, rate):
        ctx.mask = torch.rand_like(rows) > rate  # allocates
        ctx.rate = rate
        return rows * ctx.mask / (1 - rate)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.mask / (1 - ctx.rate), None


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(64, 512)
        self.tags = nn.Linear(512, 20)

    def forward(self, rows):
        return self.tags(ScaledDropout.apply(torch.relu(self.hidden(rows)), 0.1))


def train(model, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    total_loss = 0.0
    for step in range(steps):
        rows, tags = torch.randn(64, 64), torch.randint(20, (64,))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(rows.cuda()), tags.cuda())
        loss.backward()
        optimizer.step()
        total_loss += loss  # keeps
    return float(total_loss) / steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    print(f"mean loss {train(Tagger().cuda(), chosen.steps):.4f}")


if __name__ == "__main__":
    main()
