# SPDX-License-Identifier: Apache-2.0
"""A large mixture of experts trained on one small batch at a time: zero_grad keeps the gradients of all
experts as tensors of zeros, through the forward and the backward pass."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Experts(nn.Module):
    """Each batch goes to one expert of every layer, by a schedule."""

    def __init__(self, width=1024, experts=12, layers=3):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                        nn.Linear(4 * width, width)) for _ in range(experts))
            for _ in range(layers))

    def forward(self, hidden, expert):
        for layer in self.layers:
            hidden = hidden + layer[expert](hidden)
        return hidden


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = Experts().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for step in range(36):
        rows = torch.randn(2048, 1024).cuda()
        optimizer.zero_grad(set_to_none=chosen.change == "set_to_none")
        loss = F.mse_loss(model(rows, step % 12), rows)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
