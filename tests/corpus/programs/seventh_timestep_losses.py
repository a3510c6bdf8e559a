# SPDX-License-Identifier: Apache-2.0
"""Diffusion with importance sampling of its forty timesteps, by the latest six error maps of each."""

import argparse
import math
import random

import torch
from torch import nn

TIMESTEPS, HISTORY, BATCH = 40, 6, 4


class TimestepSampler:
    def __init__(self, rng):
        self.rng = rng
        self.errors = [[] for _ in range(TIMESTEPS)]
        self.waiting = []

    def draw(self):
        """Each timestep once before any comes again."""
        if not self.waiting:
            self.waiting = self.rng.sample(range(TIMESTEPS), TIMESTEPS)
        return [self.waiting.pop() for _ in range(BATCH)]

    def note(self, timesteps, errors):
        for timestep, error in zip(timesteps, errors):
            if len(self.errors[timestep]) == HISTORY:
                self.errors[timestep].pop(0)
            self.errors[timestep].append(error.clone())

    def weights(self, timesteps):
        means = [torch.stack(self.errors[one]).square().mean().sqrt() if self.errors[one]
                 else torch.ones((), device="cuda") for one in timesteps]
        return torch.stack(means)


class Denoiser(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.of_time = nn.Embedding(TIMESTEPS, width)
        self.read = nn.Conv2d(1, width, 3, padding=1)
        self.write = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, noisy, timesteps):
        return self.write(torch.relu(self.read(noisy) + self.of_time(timesteps)[:, :, None, None]))


def noisy_versions(images, noise, timesteps):
    kept = [math.cos(0.5 * math.pi * (one + 1) / (TIMESTEPS + 1)) ** 2 for one in timesteps]
    share = torch.tensor(kept, device="cuda").view(-1, 1, 1, 1)
    return share.sqrt() * images + (1 - share).sqrt() * noise


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    sampler, model = TimestepSampler(random.Random(chosen.seed)), Denoiser().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(chosen.steps):
        timesteps = sampler.draw()  # step
        images = torch.rand(BATCH, 1, 20, 20, device="cuda")
        noise = torch.randn_like(images)
        predicted = model(noisy_versions(images, noise, timesteps), torch.tensor(timesteps, device="cuda"))
        errors = (predicted - noise).square()
        loss = (errors.mean((1, 2, 3)) * sampler.weights(timesteps)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sampler.note(timesteps, errors.detach())
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
