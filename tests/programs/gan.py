# SPDX-License-Identifier: Apache-2.0
"""A small convolutional GAN: two models and two optimizers that take turns."""

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak


def generator():
    return nn.Sequential(
        nn.ConvTranspose2d(32, 64, 4, 1, 0), nn.BatchNorm2d(64), nn.ReLU(),
        nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh(),
    )


def critic():
    return nn.Sequential(
        nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1),
        nn.BatchNorm2d(64), nn.LeakyReLU(0.2), nn.Conv2d(64, 1, 4, 1, 0), nn.Flatten(),
    )


def main():
    chosen = options(steps=4)
    draws, judges = generator().to(DEVICE), critic().to(DEVICE)
    draw_steps = torch.optim.Adam(draws.parameters(), lr=2e-4, betas=(0.5, 0.999))
    judge_steps = torch.optim.Adam(judges.parameters(), lr=2e-4, betas=(0.5, 0.999))
    right = nn.functional.binary_cross_entropy_with_logits
    pictures = ((torch.zeros(16, 3, 16, 16), torch.zeros(16, 32, 1, 1)) for _ in range(chosen.steps))
    for picture, noise in on_device(pictures, chosen.streams):
        drawn = draws(noise)
        judge_steps.zero_grad()
        real, fake = judges(picture), judges(drawn.detach())
        (right(real, torch.ones_like(real)) + right(fake, torch.zeros_like(fake))).backward()
        judge_steps.step()
        draw_steps.zero_grad()
        fake = judges(drawn)
        right(fake, torch.ones_like(fake)).backward()
        draw_steps.step()
    print(f"gan: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
