# SPDX-License-Identifier: Apache-2.0
"""A recommender with a memory for each of forty shops, two of which are heard of in each step."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
SHOPS = [f"shop-{number}" for number in range(40)]


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.score = nn.GRUCell(64, 256), nn.Linear(256, 1)
        self.by_shop = {}

    def forward(self, shop, events):
        state = self.by_shop.get(shop)
        if state is None:
            state = torch.zeros(len(events), 256, device=events.device)
        state = self.cell(events, state)
        self.by_shop[shop] = state.detach()
        return self.score(state)


def heard_of(step):
    return SHOPS[2 * step % 40], SHOPS[(2 * step + 1) % 40]


memory = Memory().cuda()
optimizer = torch.optim.Adam(memory.parameters())
for step in range(options.steps):
    optimizer.zero_grad()  # step
    for shop in heard_of(step):
        memory(shop, torch.randn(100, 64, device="cuda")).square().mean().backward()
    optimizer.step()
