# SPDX-License-Identifier: Apache-2.0
"""Every sampler object adds to a list that belongs to the class, so that it outlives all of them."""

import argparse

import torch
from torch import nn


class NoiseSchedule:
    history = []

    def __init__(self, steps):
        self.alphas = torch.linspace(0.99, 0.9, steps, device="cuda").cumprod(0)

    def corrupt(self, clean, times):
        noise = torch.randn_like(clean)  # allocates
        self.history.append(noise)  # keeps
        alpha = self.alphas[times][:, None]
        return alpha.sqrt() * clean + (1 - alpha).sqrt() * noise, noise


def diffusion_step(model, optimizer, clean):
    schedule = NoiseSchedule(50)
    times = torch.randint(50, (len(clean),), device="cuda")
    noisy, noise = schedule.corrupt(clean, times)
    optimizer.zero_grad()
    loss = (model(noisy) - noise).square().mean()
    loss.backward()
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(96, 128), nn.SiLU(), nn.Linear(128, 96)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        diffusion_step(model, optimizer, torch.randn(48, 96, device="cuda"))


if __name__ == "__main__":
    main()
