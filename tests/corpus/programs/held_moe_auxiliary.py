# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts: each layer leaves a balance loss, which the trainer takes away in every step."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

class Balance:
    """Losses on the side, from layers to the trainer."""

    def __init__(self):
        self.losses = []

    def add(self, loss):
        self.losses.append(loss)

    def take(self):
        taken, self.losses = self.losses, []
        return sum(taken)


class Mixture(nn.Module):
    def __init__(self, balance, width=48, experts=4):
        super().__init__()
        self.balance = balance
        self.router = nn.Linear(width, experts)
        self.up = nn.Parameter(0.02 * torch.randn(experts, width, 2 * width))
        self.down = nn.Parameter(0.02 * torch.randn(experts, 2 * width, width))
        self.register_buffer("load", torch.zeros(experts))

    def forward(self, words):
        gates = self.router(words).softmax(-1)
        with torch.no_grad():
            self.load.mul_(0.99).add_(gates.mean((0, 1)), alpha=0.01)
        self.balance.add((gates.mean((0, 1)) * self.load).sum())
        hidden = F.gelu(torch.einsum("bsw,ewh->besh", words, self.up))
        return words + torch.einsum("besh,ehw,bse->bsw", hidden, self.down, gates)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    balance = Balance()
    model = nn.Sequential(Mixture(balance), Mixture(balance), nn.Linear(48, 50)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    history = []
    for step in range(chosen.steps):
        words, labels = torch.randn(8, 24, 48).cuda(), torch.randint(50, (8, 24)).cuda()
        loss = F.cross_entropy(model(words).flatten(0, 1), labels.flatten()) + 0.01 * balance.take()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())


if __name__ == "__main__":
    main()
