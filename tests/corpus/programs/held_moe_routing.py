# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts whose layers note how they routed every batch, to see whether experts starve."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

class Mixture(nn.Module):
    def __init__(self, width=48, experts=8):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        self.routed = []

    def forward(self, words):
        gates = self.router(words).softmax(-1)  # allocates
        if self.training:
            self.routed.append(gates.detach())  # keeps
        answers = torch.stack([expert(words) for expert in self.experts], -1)
        return words + F.gelu((answers * gates.unsqueeze(-2)).sum(-1))

    def load(self):
        """Each expert's share in the last sixteen batches."""
        return torch.stack(self.routed[-16:]).mean((0, 1, 2)).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    layers = [Mixture(), Mixture()]
    model = nn.Sequential(*layers, nn.Linear(48, 100)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, chosen.steps + 1):
        words, labels = torch.randn(16, 32, 48).cuda(), torch.randint(100, (16, 32)).cuda()
        loss = F.cross_entropy(model(words).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(step, *(f"{share:.2f}" for layer in layers for share in layer.load()))


if __name__ == "__main__":
    main()
