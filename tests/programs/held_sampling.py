# SPDX-License-Identifier: Apache-2.0
"""Trains a denoiser and draws samples from it now and then; nobody told the sampler that it needs no
gradients."""

import argparse
import contextlib

import torch
from torch import nn
from torch.nn import functional as F


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.time = nn.Embedding(100, width)
        self.into = nn.Conv2d(3, width, 3, padding=1)
        self.layers = nn.ModuleList(nn.Sequential(nn.GroupNorm(8, width), nn.SiLU(),
                                                  nn.Conv2d(width, width, 3, padding=1)) for _ in range(8))
        self.out = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, noisy, times):
        hidden = self.into(noisy) + self.time(times)[:, :, None, None]
        for layer in self.layers:
            hidden = hidden + layer(hidden)
        return self.out(hidden)


def sample(model, count, without_gradients):
    model.eval()
    with torch.no_grad() if without_gradients else contextlib.nullcontext():
        pictures = torch.randn(count, 3, 64, 64, device="cuda")
        for time in reversed(range(6)):
            times = torch.full((count,), time, device="cuda")
            pictures = pictures - 0.1 * model(pictures, times)
    model.train()
    return pictures.clamp(-1, 1).detach().cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = Denoiser().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(9):
        pictures = torch.randn(32, 3, 64, 64).cuda()
        times = torch.randint(100, (32,), device="cuda")
        noise = torch.randn_like(pictures)
        loss = F.mse_loss(model(pictures + noise, times), noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 3 == 2:
            print(sample(model, 24, chosen.change == "evaluation_without_gradients").shape)


if __name__ == "__main__":
    main()
