# SPDX-License-Identifier: Apache-2.0
"""Diffusion: the last three errors of each of fifteen timesteps set how often it is drawn."""

import argparse
import random
from collections import deque

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)
TIMESTEPS = 15


class Importance:
    def __init__(self):
        self.errors = [deque(maxlen=3) for _ in range(TIMESTEPS)]

    def draw(self):
        """Each timestep three times, then those with larger errors more often."""
        few = [t for t, them in enumerate(self.errors) if len(them) < 3]
        return random.choice(few or range(TIMESTEPS))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = nn.Conv2d(3, 24, 3, padding=1), nn.Conv2d(24, 3, 3, padding=1)
        self.time = nn.Embedding(TIMESTEPS, 24)

    def forward(self, x, t):
        return self.out(nn.functional.silu(self.into(x) + self.time.weight[t][:, None, None]))


model, importance = Denoiser().cuda(), Importance()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(options.steps):
    t = importance.draw()  # step
    clean, noise = torch.randn(16, 3, 32, 32, device="cuda"), torch.randn(16, 3, 32, 32, device="cuda")
    error = (model(clean + t / TIMESTEPS * noise, t) - noise).square()
    optimizer.zero_grad()
    error.mean().backward()
    optimizer.step()
    importance.errors[t].append(error.detach())
