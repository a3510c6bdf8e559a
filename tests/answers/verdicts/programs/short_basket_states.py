# SPDX-License-Identifier: Apache-2.0
"""A recommender that goes on in each visitor's basket; visitors leave, and their states are never asked for again."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Shop(nn.Module):
    def __init__(self, goods=600, width=192):
        super().__init__()
        self.goods = nn.Embedding(goods, width)
        self.cell = nn.GRUCell(width, width)
        self.states = {}

    def forward(self, visitors, bought):
        empty = torch.zeros(self.cell.hidden_size, device=bought.device)
        before = torch.stack([self.states.get(visitor, empty) for visitor in visitors])
        after = self.cell(self.goods(bought), before)  # allocates
        for visitor, state in zip(visitors, after.detach()):
            self.states[visitor] = state  # keeps
        return after @ self.goods.weight.T


def visits(steps, places=32, stay=4):
    """A quarter of the visitors leave after each purchase, and others come."""
    for step in range(steps):
        yield [place + places * ((step + place) // stay) for place in range(places)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Shop().cuda()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)
    for visitors in visits(chosen.steps):
        bought, wanted = torch.randint(600, (2, 32), device="cuda")
        loss = F.cross_entropy(model(visitors, bought), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(model.states)} visitors")


if __name__ == "__main__":
    main()
