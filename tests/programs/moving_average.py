# SPDX-License-Identifier: Apache-2.0
"""Trains a residual network of wide layers with a moving average of its weights on the same GPU."""

import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, rows):
        return rows + self.down(F.silu(self.up(rows)))


@torch.no_grad()
def update(average, model, decay=0.999):
    for kept, new in zip(average.parameters(), model.parameters()):
        kept.lerp_(new.to(kept.device), 1 - decay)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = nn.Sequential(*(Block(1536) for _ in range(16)))
    average = copy.deepcopy(model).requires_grad_(False)
    model.cuda()
    if chosen.change != "weights_copy":
        average.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for _ in range(8):
        rows = torch.randn(256, 1536).cuda()
        loss = F.mse_loss(model(rows), rows)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        update(average, model)
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
