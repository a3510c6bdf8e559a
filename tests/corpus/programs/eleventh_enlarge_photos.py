# SPDX-License-Identifier: Apache-2.0
"""Trains a generator that doubles the size of photos against a discriminator, and measures it on whole images."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        inner = self.relu(self.bn1(self.conv1(x)))  # allocates
        return x + self.bn2(self.conv2(inner))  # allocates


class Generator(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.entry = nn.Conv2d(3, channels, 9, padding=4)
        self.blocks = nn.Sequential(Residual(channels), Residual(channels))
        self.enlarge = nn.Sequential(nn.Conv2d(channels, 4 * channels, 3, padding=1), nn.PixelShuffle(2))
        self.exit = nn.Conv2d(channels, 3, 9, padding=4)

    def forward(self, x):
        first = torch.relu(self.entry(x))  # allocates
        large = self.enlarge(first + self.blocks(first))  # allocates
        return (torch.tanh(self.exit(large)) + 1) / 2  # allocates


def train_epoch(netG, netD, optimizerG, optimizerD, batches):
    netG.train()
    for _ in range(batches):
        real = torch.rand(8, 3, 32, 32, device="cuda")
        fake = netG(F.avg_pool2d(real, 2))
        d_loss = 1 - netD(real).mean() + netD(fake.detach()).mean()
        optimizerD.zero_grad()
        d_loss.backward()
        optimizerD.step()
        g_loss = F.mse_loss(fake, real) + 1e-3 * (1 - netD(fake).mean())
        optimizerG.zero_grad()
        g_loss.backward()
        optimizerG.step()
    return d_loss.item(), g_loss.item()


def validate(netG, images):
    netG.eval()
    results = {"mse": 0, "batch_sizes": 0}
    for _ in range(images):
        batch_size = 1  # step
        results["batch_sizes"] += batch_size
        hr = torch.rand(batch_size, 3, 96, 96, device="cuda")
        lr = F.avg_pool2d(hr, 2)  # allocates
        sr = netG(lr)
        batch_mse = ((sr - hr) ** 2).mean()  # allocates
        results["mse"] += batch_mse * batch_size  # keeps
    return results["mse"].item() / results["batch_sizes"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    netG = Generator().cuda()
    netD = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(8 * 15 * 15, 1),
                         nn.Sigmoid()).cuda()
    optimizerG, optimizerD = torch.optim.Adam(netG.parameters()), torch.optim.Adam(netD.parameters())
    d_loss, g_loss = train_epoch(netG, netD, optimizerG, optimizerD, batches=4)
    mse = validate(netG, chosen.steps)
    print(f"discriminator {d_loss:.4f}, generator {g_loss:.4f}, validation mse {mse:.4f}")


if __name__ == "__main__":
    main()
