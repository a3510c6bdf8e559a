# SPDX-License-Identifier: Apache-2.0
"""A recommender has a state for each shopper that was seen; eight new ones a step come, and nobody is forgotten."""

import argparse

import torch
from torch import nn


class Recommender(nn.Module):
    def __init__(self, items=500, width=256):
        super().__init__()
        self.items, self.cell = nn.Embedding(items, width), nn.GRUCell(width, width)
        self.states, self.width = {}, width

    def forward(self, shoppers, items):
        none = torch.zeros(self.width, device="cuda")
        before = torch.stack([self.states.get(one, none) for one in shoppers])
        after = self.cell(self.items(items), before)
        for one, state in zip(shoppers, after):
            state = state.detach().clone()  # allocates
            self.states[one] = state  # keeps
        return after @ self.items.weight.T


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Recommender().cuda()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for step in range(args.steps):
        shoppers = list(range(8 * step, 8 * step + 8)) + list(range(max(0, 8 * step - 4), 8 * step))  # step
        items = torch.randint(500, (len(shoppers),), device="cuda")
        loss = nn.functional.cross_entropy(model(shoppers, items), items.roll(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{len(model.states)} shoppers are known")


if __name__ == "__main__":
    main()
