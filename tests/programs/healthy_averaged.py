# SPDX-License-Identifier: Apache-2.0
"""Trains a noise predictor with mixed precision, accumulation of single pictures, and a moving average of
the weights that lives on the host."""

import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.into = nn.Conv2d(3, width, 3, padding=1)
        self.middle = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(6))
        self.out = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, pictures):
        hidden = self.into(pictures)
        for layer in self.middle:
            hidden = hidden + F.relu(layer(hidden))
        return self.out(hidden)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    parser.parse_args()
    torch.manual_seed(0)

    model = Denoiser()
    average = copy.deepcopy(model).requires_grad_(False)
    model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    for _ in range(5):
        for _ in range(4):
            pictures = torch.randn(1, 3, 256, 256).cuda()
            noise = torch.randn_like(pictures)
            with torch.autocast("cuda", torch.bfloat16):
                loss = F.mse_loss(model(pictures + noise), noise)
            (loss / 4).backward()
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            for kept, new in zip(average.parameters(), model.parameters()):
                kept.lerp_(new.cpu(), 0.001)
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
