# SPDX-License-Identifier: Apache-2.0
"""A small convolutional GAN that shows a sheet of its latest samples at the end of the training."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Generator(nn.Module):
    def __init__(self, latent=32):
        super().__init__()
        self.latent = latent
        self.start = nn.Linear(latent, 32 * 8 * 8)
        self.up = nn.ConvTranspose2d(32, 16, 4, 2, 1)
        self.out = nn.ConvTranspose2d(16, 3, 4, 2, 1)

    def forward(self, z):
        hidden = F.relu(self.start(z)).view(-1, 32, 8, 8)
        hidden = F.relu(self.up(hidden))
        return torch.tanh(self.out(hidden))  # allocates


class SampleSheet:
    """The first four samples of each of the latest rows."""

    def __init__(self, rows=8):
        self.most = rows
        self.rows = []

    def add(self, images):
        self.rows.append(images.detach()[:4])  # keeps

    def draw(self):
        return torch.cat(self.rows[-self.most:]).mul(127.5).add(127.5)


def make_critic():
    return nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2),
                         nn.Flatten(), nn.Linear(32 * 8 * 8, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    generator, critic = Generator().cuda(), make_critic().cuda()
    of_generator = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    of_critic = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    sheet = SampleSheet()
    for _ in range(chosen.steps):
        real = torch.rand(16, 3, 32, 32, device="cuda") * 2 - 1  # step
        z = torch.randn(16, generator.latent, device="cuda")

        with torch.no_grad():
            fake = generator(z)
        of_critic.zero_grad()
        (F.softplus(-critic(real)).mean() + F.softplus(critic(fake)).mean()).backward()
        of_critic.step()

        fake = generator(z)
        of_generator.zero_grad()
        F.softplus(-critic(fake)).mean().backward()
        of_generator.step()
        sheet.add(fake)
    print("sheet of", tuple(sheet.draw().shape))


if __name__ == "__main__":
    main()
