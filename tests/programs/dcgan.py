# SPDX-License-Identifier: Apache-2.0
"""A convolutional GAN on pictures of 64 by 64: two models and two optimizers that take turns."""

import torch
from torch import nn

import told
from batches import DEVICE, on_device, options, peak


def generator():
    layers = [nn.ConvTranspose2d(100, 512, 4, 1, 0), nn.BatchNorm2d(512), nn.ReLU()]
    for wide in (512, 256, 128):
        layers += [nn.ConvTranspose2d(wide, wide // 2, 4, 2, 1), nn.BatchNorm2d(wide // 2), nn.ReLU()]
    return nn.Sequential(*layers, nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh())


def critic():
    layers = [nn.Conv2d(3, 64, 4, 2, 1), nn.LeakyReLU(0.2)]
    for wide in (64, 128, 256):
        layers += [nn.Conv2d(wide, 2 * wide, 4, 2, 1), nn.BatchNorm2d(2 * wide), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Conv2d(512, 1, 4, 1, 0), nn.Flatten())


def main():
    chosen = options(steps=3)
    draws, judges = generator().to(DEVICE), critic().to(DEVICE)
    draw_steps = torch.optim.Adam(draws.parameters(), lr=2e-4, betas=(0.5, 0.999))
    judge_steps = torch.optim.Adam(judges.parameters(), lr=2e-4, betas=(0.5, 0.999))
    judge = nn.BCEWithLogitsLoss()
    pictures = ((torch.zeros(64, 3, 64, 64),) for _ in range(chosen.steps))
    for (picture,) in on_device(pictures, chosen.streams):
        noise = told.inputs(torch.randn(64, 100, 1, 1, device=DEVICE), name="noise")
        real = told.inputs(torch.ones(64, 1, device=DEVICE), name="labels")
        fake = told.inputs(torch.zeros(64, 1, device=DEVICE), name="labels")
        judges.zero_grad()
        judge(judges(picture), real).backward()
        drawn = draws(noise)
        judge(judges(drawn.detach()), fake).backward()
        judge_steps.step()
        draws.zero_grad()
        judge(judges(drawn), real).backward()
        draw_steps.step()
    print(f"dcgan: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
