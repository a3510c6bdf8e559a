# SPDX-License-Identifier: Apache-2.0
"""Diffusion: errors by timestep, whose recent ones set how often a timestep is drawn."""

import argparse
import random
from collections import defaultdict

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=44)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)
TIMESTEPS = 20


class Importance:
    def __init__(self):
        self.errors = defaultdict(list)

    def note(self, t, error):
        self.errors[t].append(error)  # keeps

    def draw(self):
        weights = [1.0 + sum(error.mean().item() for error in self.errors[t][-3:]) for t in range(TIMESTEPS)]
        return random.choices(range(TIMESTEPS), weights)[0]


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = nn.Conv2d(3, 24, 3, padding=1), nn.Conv2d(24, 3, 3, padding=1)
        self.time = nn.Embedding(TIMESTEPS, 24)

    def forward(self, x, t):
        return self.out(nn.functional.silu(self.into(x) + self.time(t)[:, :, None, None]))


model, importance = Denoiser().cuda(), Importance()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(options.steps):
    t = importance.draw()  # step
    clean, noise = torch.randn(8, 3, 32, 32, device="cuda"), torch.randn(8, 3, 32, 32, device="cuda")
    share = 1 - t / TIMESTEPS
    guess = model(share * clean + (1 - share) * noise, torch.full((8,), t, device="cuda"))
    error = (guess - noise).square()
    optimizer.zero_grad()
    error.mean().backward()
    optimizer.step()
    importance.note(t, error.detach().mean(1))  # allocates
