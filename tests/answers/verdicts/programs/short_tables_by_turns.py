# SPDX-License-Identifier: Apache-2.0
"""A recommender with a table for each of fourteen shops; a shop's moments come when its first batch comes."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Shops(nn.Module):
    def __init__(self, shops=14, goods=150, width=64):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(goods, width) for _ in range(shops))
        self.taste = nn.Linear(width, width)

    def forward(self, shop, bought):
        table = self.tables[shop]
        return self.taste(table(bought).mean(1)) @ table.weight.T


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Shops().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    shops = len(model.tables)
    for step in range(chosen.steps):
        # Two batches from each shop, one shop after the other.
        shop = step // 2 % shops
        bought, wanted = torch.randint(150, (64, 5)).cuda(), torch.randint(150, (64,)).cuda()
        loss = F.cross_entropy(model(shop, bought), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, states of {len(optimizer.state)} parameters")


if __name__ == "__main__":
    main()
