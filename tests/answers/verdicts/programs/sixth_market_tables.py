# SPDX-License-Identifier: Apache-2.0
"""A recommender for sixty markets, each with a table of its own items; an optimizer written for it."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class RowAdagrad:
    """Adagrad that has a sum of squares only for what has had a gradient."""

    def __init__(self, params, lr=0.05, eps=1e-8):
        self.params = list(params)
        self.lr, self.eps = lr, eps
        self.squares = {}

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p in self.params:
            if p.grad is None:
                continue
            if p not in self.squares:
                self.squares[p] = torch.zeros_like(p)
            self.squares[p].addcmul_(p.grad, p.grad)
            p.addcdiv_(p.grad, self.squares[p].sqrt().add_(self.eps), value=-self.lr)


class MarketModel(nn.Module):
    def __init__(self, markets, items=600, width=16, features=32):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(items, width) for _ in range(markets))
        self.user = nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, width))

    def forward(self, market, users, items):
        return (self.user(users) * self.tables[market](items)).sum(1)


def visits(markets):
    """Every market once, in an order of its own, again and again."""
    while True:
        yield from torch.randperm(markets).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--markets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = MarketModel(args.markets).cuda()
    optimizer = RowAdagrad(model.parameters())
    order = visits(args.markets)
    losses = []
    for _ in range(args.steps):
        market = next(order)  # step
        users, items = torch.randn(256, 32).cuda(), torch.randint(0, 600, (256,)).cuda()
        bought = torch.randint(0, 2, (256,)).float().cuda()
        loss = F.binary_cross_entropy_with_logits(model(market, users, items), bought)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print("loss", sum(losses) / len(losses))


if __name__ == "__main__":
    main()
