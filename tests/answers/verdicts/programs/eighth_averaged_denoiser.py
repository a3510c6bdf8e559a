# SPDX-License-Identifier: Apache-2.0
"""Trains a small diffusion model and draws samples with the moving average of its weights every third step."""

import argparse
import math
from contextlib import contextmanager

import torch
from torch import nn

TIMES = 40
SIZE = 64


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.Linear(SIZE + 16, 128)
        self.outward = nn.Linear(128, SIZE)

    def forward(self, noisy, time):
        rates = torch.exp(-math.log(100.0) * torch.arange(8, device=noisy.device) / 8)
        angles = time[:, None] * rates
        hidden = self.inward(torch.cat([noisy, angles.sin(), angles.cos()], -1))
        return self.outward(nn.functional.silu(hidden))


class AveragedWeights:
    def __init__(self, model, decay=0.99):
        self.parameters = list(model.parameters())
        self.decay = decay
        self.shadow = [parameter.detach().clone() for parameter in self.parameters]
        self.stored = []

    @torch.no_grad()
    def update(self):
        for shadow, parameter in zip(self.shadow, self.parameters):
            shadow.lerp_(parameter, 1 - self.decay)

    @torch.no_grad()
    def swap_in(self):
        now = [parameter.detach().clone() for parameter in self.parameters]  # allocates
        self.stored.append(now)  # keeps
        for parameter, shadow in zip(self.parameters, self.shadow):
            parameter.copy_(shadow)

    @torch.no_grad()
    def swap_out(self):
        for parameter, stored in zip(self.parameters, self.stored[-1]):
            parameter.copy_(stored)

    @contextmanager
    def applied(self):
        """May be nested."""
        self.swap_in()
        try:
            yield
        finally:
            self.swap_out()


def noise_schedule():
    return torch.linspace(0.999, 0.9, TIMES).cumprod(0).cuda()


def train_step(model, optimizer, kept):
    clean = torch.rand(32, SIZE, device="cuda")
    time = torch.randint(TIMES, (32,), device="cuda")
    noise = torch.randn_like(clean)
    share = kept[time][:, None]
    loss = (model(share.sqrt() * clean + (1 - share).sqrt() * noise, time.float()) - noise).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def draw(model, kept, count=4):
    picture = torch.randn(count, SIZE, device="cuda")
    for time in range(TIMES - 1, -1, -8):
        guess = model(picture, torch.full((count,), float(time), device="cuda"))
        picture = (picture - (1 - kept[time]).sqrt() * guess) / kept[time].sqrt()
    return picture.mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model, kept = Denoiser().cuda(), noise_schedule()
    average = AveragedWeights(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(chosen.steps):
        loss = train_step(model, optimizer, kept)  # step
        average.update()
        if step % 3 == 2:
            with average.applied():
                print(f"{step}: loss {loss:.4f}, samples' mean {draw(model, kept):.3f}")


if __name__ == "__main__":
    main()
