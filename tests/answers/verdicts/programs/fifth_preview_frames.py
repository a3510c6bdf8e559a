# SPDX-License-Identifier: Apache-2.0
"""A diffusion model; every third step a preview is sampled, whose path can be shown as a film."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width=24, times=100):
        super().__init__()
        self.time = nn.Embedding(times, width)
        self.into, self.middle = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, t):
        hidden = F.silu(self.into(x) + self.time(t)[:, :, None, None])
        return self.out(F.silu(self.middle(hidden)))


class Diffusion:
    def __init__(self, model, times=100):
        self.model = model
        self.kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, times), 0).cuda()
        self.intermediates = []

    def loss(self, images):
        t = torch.randint(len(self.kept), (len(images),)).cuda()
        noise = torch.randn(images.shape).cuda()
        level = self.kept[t][:, None, None, None]
        return F.mse_loss(self.model(level.sqrt() * images + (1 - level).sqrt() * noise, t), noise)

    @torch.no_grad()
    def sample(self, count, steps=6):
        x = torch.randn(count, 3, 32, 32).cuda()
        for t in torch.linspace(len(self.kept) - 1, 0, steps).long().tolist():
            guess = self.model(x, torch.full((count,), t).cuda())
            x = (x - 0.1 * guess).clamp(-3, 3)  # allocates
            self.intermediates.append(x)  # keeps
        return x

    def film(self, steps=6):
        return [(frame + 1).mul(127.5).byte().cpu() for frame in self.intermediates[-steps:]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=21)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--preview-every", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Denoiser().cuda()
    diffusion = Diffusion(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    for step in range(args.steps):
        images = torch.randn(16, 3, 32, 32).cuda()  # step
        loss = diffusion.loss(images)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.preview_every == 0:
            diffusion.sample(8)
            print(step, len(diffusion.film()), "frames")


if __name__ == "__main__":
    main()
