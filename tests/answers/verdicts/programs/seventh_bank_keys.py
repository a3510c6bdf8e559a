# SPDX-License-Identifier: Apache-2.0
"""Contrastive metric learning with a slowly following encoder and a bank of its keys."""

import argparse
import copy

import torch
from torch import nn
from torch.nn import functional


class KeyBank:
    """The newest `size` keys."""

    def __init__(self, size, width):
        self.size = size
        self.keys = functional.normalize(torch.randn(16, width, device="cuda"), dim=1)

    def push(self, keys):
        joined = torch.cat([self.keys, keys])  # allocates
        self.keys = joined[:, -self.size:]  # keeps


class Contrast(nn.Module):
    def __init__(self, width=64, momentum=0.99, temperature=0.1):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(100, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, width))
        self.slow = copy.deepcopy(self.online).requires_grad_(False)
        self.momentum, self.temperature = momentum, temperature

    @torch.no_grad()
    def follow(self):
        for slow, online in zip(self.slow.parameters(), self.online.parameters()):
            slow.lerp_(online, 1 - self.momentum)

    def forward(self, query, positive, bank):
        query = functional.normalize(self.online(query), dim=1)
        with torch.no_grad():
            keys = functional.normalize(self.slow(positive), dim=1)
        same = (query * keys).sum(1, keepdim=True)
        others = query @ bank.keys.T
        logits = torch.cat([same, others], dim=1) / self.temperature
        target = torch.zeros(len(query), dtype=torch.long, device="cuda")
        return functional.cross_entropy(logits, target), keys


def two_views(x):
    return x + 0.1 * torch.randn_like(x), x * (torch.rand_like(x) > 0.2)


def learn(model, bank, optimizer, x):
    loss, keys = model(*two_views(x), bank)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.follow()
    bank.push(keys)
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Contrast().cuda()
    bank = KeyBank(size=256, width=64)
    optimizer = torch.optim.SGD(model.online.parameters(), lr=0.03, momentum=0.9)
    for step in range(chosen.steps):
        x = torch.randn(16, 100, device="cuda")  # step
        loss = learn(model, bank, optimizer, x)
        if step % 20 == 0:
            print(f"step {step}: {loss:.4f}")


if __name__ == "__main__":
    main()
