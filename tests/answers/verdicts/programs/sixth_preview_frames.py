# SPDX-License-Identifier: Apache-2.0
"""Trains a small diffusion model, and samples a preview after every third step."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Denoiser(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.time = nn.Embedding(100, width)
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.middle = nn.Conv2d(width, width, 3, padding=1)
        self.leave = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, t):
        h = F.silu(self.enter(x)) + self.time(t)[:, :, None, None]
        return self.leave(F.silu(self.middle(h)))


class Schedule:
    def __init__(self, length=100):
        betas = torch.linspace(1e-4, 0.02, length, device="cuda")
        self.length = length
        self.kept = torch.cumprod(1 - betas, 0)

    def noised(self, x, noise, t):
        kept = self.kept[t][:, None, None, None]
        return kept.sqrt() * x + (1 - kept).sqrt() * noise


@torch.no_grad()
def sample(model, schedule, count=4, stride=25, frames=[]):
    """Images, and what they were on the way."""
    x = torch.randn(count, 3, 32, 32, device="cuda")
    for t in reversed(range(0, schedule.length, stride)):
        at = torch.full((count,), t, device="cuda")
        noise = model(x, at)
        x = (x - (1 - schedule.kept[t]).sqrt() * noise) / schedule.kept[t].sqrt()  # allocates
        frames.append(x)  # keeps
    return x.clamp(-1, 1), frames


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--preview-every", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model, schedule = Denoiser().cuda(), Schedule()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    for step in range(args.steps):
        images = torch.rand(8, 3, 32, 32, device="cuda") * 2 - 1  # step
        t = torch.randint(0, schedule.length, (8,), device="cuda")
        noise = torch.randn_like(images)
        loss = F.mse_loss(model(schedule.noised(images, noise, t), t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.preview_every == 0:
            final, on_the_way = sample(model, schedule)
            strip = torch.cat([frame[0] for frame in on_the_way[-4:]], dim=2)
            print(step, tuple(final.shape), tuple(strip.shape))


if __name__ == "__main__":
    main()
