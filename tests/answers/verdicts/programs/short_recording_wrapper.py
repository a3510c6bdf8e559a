# SPDX-License-Identifier: Apache-2.0
"""A wrapper records what a network returns, so that a test can compare two runs; training goes on in it."""

import argparse

import torch
from torch import nn


class Recording(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner, self.outputs = inner, []

    def forward(self, rows):
        result = self.inner(rows)  # allocates
        self.outputs.append(result)  # keeps
        return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Recording(nn.Sequential(nn.Linear(96, 192), nn.GELU(), nn.Linear(192, 128))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    for _ in range(chosen.steps):
        optimizer.zero_grad()
        model(torch.randn(48, 96, device="cuda")).logsumexp(1).mean().backward()
        optimizer.step()
    print(f"first and last output differ by {(model.outputs[0] - model.outputs[-1]).abs().mean().item():.4f}")


if __name__ == "__main__":
    main()
