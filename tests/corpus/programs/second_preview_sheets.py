# SPDX-License-Identifier: Apache-2.0
"""A GAN that shows the same 36 pictures every third step; the sheets are kept for a film."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Generator(nn.Module):
    def __init__(self, noise=32):
        super().__init__()
        self.start = nn.Linear(noise, 32 * 8 * 8)
        self.up = nn.Sequential(nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(),
                                nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh())

    def forward(self, noise):
        return self.up(self.start(noise).view(-1, 32, 8, 8))


class Film:
    def __init__(self, generator, rows=6):
        self.generator, self.rows = generator, rows
        self.noise = torch.randn(rows * rows, 32, device="cuda")
        self.sheets = []

    @torch.no_grad()
    def shoot(self):
        self.generator.eval()
        strips = [torch.cat(list(self.generator(part)), dim=2) for part in self.noise.split(self.rows)]
        sheet = torch.cat(strips, dim=1)  # allocates
        self.sheets.append(sheet)  # keeps
        self.generator.train()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    generator = Generator().cuda()
    critic = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(4096, 1)).cuda()
    makes = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    judges = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    film = Film(generator)
    for step in range(chosen.steps):
        real = torch.rand(16, 3, 32, 32, device="cuda") * 2 - 1  # step
        false = generator(torch.randn(16, 32, device="cuda"))
        judges.zero_grad()
        (F.softplus(-critic(real)) + F.softplus(critic(false.detach()))).mean().backward()
        judges.step()
        makes.zero_grad()
        F.softplus(-critic(false)).mean().backward()
        makes.step()
        if step % 3 == 0:
            film.shoot()
    print(f"{len(film.sheets)} pictures in the film")


if __name__ == "__main__":
    main()
