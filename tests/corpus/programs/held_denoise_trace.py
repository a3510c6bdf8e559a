# SPDX-License-Identifier: Apache-2.0
"""A small diffusion model that draws a sample now and then; the way there is traced in a default argument."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

class Denoiser(nn.Module):
    def __init__(self, levels=8, channels=16):
        super().__init__()
        self.level = nn.Embedding(levels, channels)
        self.enter, self.leave = nn.Conv2d(1, channels, 3, padding=1), nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, noisy, level):
        hidden = self.enter(noisy) + self.level(level)[:, :, None, None]
        return self.leave(F.silu(hidden))


@torch.no_grad()
def sample(model, levels=8, pictures=4, trace=[]):
    current = torch.randn(pictures, 1, 16, 16, device="cuda")
    for level in reversed(range(levels)):
        noise = model(current, torch.full((pictures,), level, device="cuda"))
        current = (current - noise / levels).clamp(-3, 3)  # allocates
        trace.append(current)  # keeps
    return torch.cat(trace[-levels:], 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Denoiser().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    shares = torch.linspace(0.99, 0.1, 8, device="cuda")
    strip = None
    for step in range(1, chosen.steps + 1):
        clean, noise = torch.rand(16, 1, 16, 16).cuda(), torch.randn(16, 1, 16, 16, device="cuda")
        level = torch.randint(8, (16,), device="cuda")
        share = shares[level][:, None, None, None]
        loss = F.mse_loss(model(share.sqrt() * clean + (1 - share).sqrt() * noise, level), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            strip = sample(model)
    print("last strip", None if strip is None else tuple(strip.shape))


if __name__ == "__main__":
    main()
