# SPDX-License-Identifier: Apache-2.0
"""Trains a small U-shaped denoiser: units of convolution, group normalisation and activation, in
residual blocks that are told the time."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Unit(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.conv = nn.Conv2d(before, after, 3, padding=1)
        self.norm = nn.GroupNorm(8, after)

    def forward(self, picture):
        return F.silu(self.norm(self.conv(picture)))


class Residual(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.one, self.two = Unit(before, after), Unit(after, after)
        self.time = nn.Sequential(nn.SiLU(), nn.Linear(128, after))
        self.skip = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, picture, time):
        inner = self.one(picture) + self.time(time)[:, :, None, None]
        return self.two(inner) + self.skip(picture)


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.begin = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.ModuleList([Residual(width, width), Residual(width, 2 * width), Residual(2 * width, 4 * width)])
        self.middle = Residual(4 * width, 4 * width)
        self.up = nn.ModuleList([Residual(8 * width, 2 * width), Residual(4 * width, width), Residual(2 * width, width)])
        self.end = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, picture, time):
        hidden, kept = self.begin(picture), []
        for block in self.down:
            hidden = block(hidden, time)
            kept.append(hidden)
            hidden = F.avg_pool2d(hidden, 2)
        hidden = self.middle(hidden, time)
        for block in self.up:
            hidden = F.interpolate(hidden, scale_factor=2, mode="nearest")
            hidden = block(torch.cat([hidden, kept.pop()], dim=1), time)
        return self.end(hidden)


def checkpoint_class(model, name):
    for module in model.modules():
        if type(module).__name__ == name:
            forward = module.forward
            module.forward = lambda *given, forward=forward: checkpoint(forward, *given, use_reentrant=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    model = Denoiser().cuda()
    name, _, amount = chosen.change.partition("=")
    if name == "checkpointing":
        checkpoint_class(model, amount)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(6):
        clean, noise = torch.rand(8, 3, 96, 96).cuda(), torch.rand(8, 3, 96, 96).cuda()
        time = torch.rand(8, 128).cuda()
        with torch.autocast("cuda", torch.bfloat16, enabled=name == "mixed_precision"):
            loss = F.mse_loss(model(clean + noise, time), noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
