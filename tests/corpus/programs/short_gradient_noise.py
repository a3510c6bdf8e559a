# SPDX-License-Identifier: Apache-2.0
"""The noise of gradients is measured on a hidden layer: a hook collects the gradients, the last eight are used."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(60, 200), nn.Linear(200, 12)
        self.slopes = []

    def forward(self, rows):
        hidden = torch.tanh(self.first(rows))
        hidden.register_hook(self.slopes.append)  # keeps
        return self.second(hidden)  # allocates

    def noise(self):
        last = torch.stack(self.slopes[-8:])
        return (last.var(0, unbiased=False).sum() / (last.mean(0).square().sum() + 1e-12)).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Network().cuda()
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
    noise = 0.0
    for _ in range(chosen.steps):
        rows, labels = torch.randn(96, 60).cuda(), torch.randint(12, (96,)).cuda()
        loss = F.cross_entropy(model(rows), labels)
        optimizer.zero_grad()
        loss.backward()  # allocates
        optimizer.step()
        noise = model.noise()
    print(f"loss {loss.item():.4f}, noise {noise:.3f}")


if __name__ == "__main__":
    main()
