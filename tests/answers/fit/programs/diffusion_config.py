# SPDX-License-Identifier: Apache-2.0
"""Trains a denoising diffusion model with an exponential average of its weights; all settings are in a YAML file."""

import copy
import sys

import torch
import yaml
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    def __init__(self, inputs, outputs, time):
        super().__init__()
        self.norm_1, self.conv_1 = nn.GroupNorm(32, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm_2, self.conv_2 = nn.GroupNorm(32, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.short = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time):
        y = self.conv_1(functional.silu(self.norm_1(x))) + self.time(functional.silu(time))[:, :, None, None]
        return self.short(x) + self.conv_2(functional.silu(self.norm_2(y)))


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = nn.GroupNorm(32, width), nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).flatten(2).transpose(1, 2).chunk(3, dim=-1)
        scores = torch.softmax(q @ k.transpose(1, 2) * q.shape[-1] ** -0.5, dim=-1)
        return x + self.out((scores @ v).transpose(1, 2).reshape(x.shape))


class UNet(nn.Module):
    def __init__(self, width, multiples):
        super().__init__()
        self.width, time = width, 4 * width
        widths = [width * each for each in multiples]
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down, self.shrink = nn.ModuleList(), nn.ModuleList()
        for inputs, outputs in zip([width, *widths], widths):
            self.down.append(Residual(inputs, outputs, time))
            self.shrink.append(nn.Conv2d(outputs, outputs, 3, 2, 1))
        self.middle = nn.ModuleList([Residual(widths[-1], widths[-1], time), Residual(widths[-1], widths[-1], time)])
        self.attention = Attention(widths[-1])
        self.up = nn.ModuleList()
        inputs = widths[-1]
        for skip in reversed(widths):
            self.up.append(Residual(inputs + skip, skip, time))
            inputs = skip
        self.last = nn.Sequential(nn.GroupNorm(32, width), nn.SiLU(), nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, x, moment):
        angles = moment[:, None] * torch.exp(torch.arange(self.width // 2, device=x.device) * -0.1)
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=1))
        x, kept = self.first(x), []
        for block, shrink in zip(self.down, self.shrink):
            x = block(x, time)
            kept.append(x)
            x = shrink(x)
        x = self.middle[1](self.attention(self.middle[0](x, time)), time)
        for block in self.up:
            x = block(torch.cat([functional.interpolate(x, scale_factor=2), kept.pop()], dim=1), time)
        return self.last(x)


def main():
    with open(sys.argv[1]) as file:
        config = yaml.safe_load(file)
    settings = config["train"]
    with torch.device("cuda"):
        model = UNet(**config["model"])
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["learning_rate"])
    for _ in range(settings["steps"]):
        pictures = torch.zeros(settings["batch_size"], 3, config["data"]["size"], config["data"]["size"]).cuda()
        noise, moment = torch.randn_like(pictures), torch.rand(len(pictures), device="cuda")
        loss = functional.mse_loss(model(pictures + moment[:, None, None, None] * noise, moment), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for kept, new in zip(average.parameters(), model.parameters()):
                kept.lerp_(new, 1 - settings["ema"])


if __name__ == "__main__":
    main()
