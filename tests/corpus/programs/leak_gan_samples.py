# SPDX-License-Identifier: Apache-2.0
"""A GAN that keeps each step's samples for an animation of how they get better."""

import argparse

import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, latent=32):
        super().__init__()
        self.project = nn.Linear(latent, 64 * 7 * 7)
        self.grow = nn.Sequential(
            nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.ConvTranspose2d(32, 1, 4, 2, 1),
        )

    def forward(self, latent):
        return torch.tanh(self.grow(self.project(latent).view(-1, 64, 7, 7)))  # allocates


class Animation:
    def __init__(self):
        self.frames = []

    def add(self, pictures):
        self.frames.append(pictures[:16].detach())  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    generator = Generator().cuda()
    critic = nn.Sequential(
        nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(64 * 49, 1),
    ).cuda()
    generator_steps = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    critic_steps = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    animation = Animation()
    for step in range(chosen.steps):
        real = torch.rand(64, 1, 28, 28, device="cuda")
        fake = generator(torch.randn(64, 32, device="cuda"))
        critic_steps.zero_grad()
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        critic_steps.step()
        generator_steps.zero_grad()
        (-critic(fake).mean()).backward()
        generator_steps.step()
        animation.add(fake)


if __name__ == "__main__":
    main()
