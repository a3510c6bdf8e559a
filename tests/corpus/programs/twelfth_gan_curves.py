# SPDX-License-Identifier: Apache-2.0
"""Trains a generator against a discriminator, and prints both curves of the losses when it is done."""

import argparse

import torch
from torch import nn


def generator(noise, size):
    return nn.Sequential(nn.Linear(noise, 64), nn.LeakyReLU(0.2), nn.Linear(64, size), nn.Tanh())


def discriminator(size):
    return nn.Sequential(nn.Linear(size, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))


class Training:
    def __init__(self, size=144, noise=32, batch_size=40):
        self.size, self.noise, self.batch_size = size, noise, batch_size
        self.gen, self.disc = generator(noise, size).cuda(), discriminator(size).cuda()
        self.gen_optimizer = torch.optim.Adam(self.gen.parameters(), lr=3e-3, betas=(0.5, 0.999))
        self.disc_optimizer = torch.optim.Adam(self.disc.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.criterion = nn.MSELoss()
        self.disc_losses, self.gen_losses = [], []

    def train_discriminator(self, real, noise):
        self.disc_optimizer.zero_grad()
        of_real, of_fake = self.disc(real), self.disc(self.gen(noise).detach())
        real_loss = self.criterion(of_real, torch.ones_like(of_real))
        fake_loss = self.criterion(of_fake, torch.zeros_like(of_fake))
        loss = (real_loss + fake_loss) / 2  # allocates
        loss.backward()
        self.disc_optimizer.step()
        self.disc_losses.append(loss)  # keeps

    def train_generator(self, noise):
        self.gen_optimizer.zero_grad()
        of_fake = self.disc(self.gen(noise))
        loss = self.criterion(of_fake, torch.ones_like(of_fake))  # allocates
        loss.backward()
        self.gen_optimizer.step()
        self.gen_losses.append(loss)  # keeps

    def plot(self, every=8):
        for step in range(0, len(self.gen_losses), every):
            print(f"{step:4d}  {self.disc_losses[step].item():.4f}  {self.gen_losses[step].item():.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    training = Training()
    for _ in range(chosen.steps):
        real = torch.rand(training.batch_size, training.size, device="cuda")  # step
        noise = torch.rand(training.batch_size, training.noise, device="cuda")
        training.train_discriminator(real, noise)
        training.train_generator(noise)
    training.plot()


if __name__ == "__main__":
    main()
