# SPDX-License-Identifier: Apache-2.0
"""Trains a small DCGAN on faces; after every pass over the photographs it draws faces from the same noise, to be
looked at when the training is over."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

PER_EPOCH = 5


class Generator(nn.Module):
    def __init__(self, z_size=100, width=32):
        super().__init__()
        self.width = width
        self.fc = nn.Linear(z_size, 2 * width * 4 * 4)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 4, 2, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.up2 = nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False)

    def forward(self, z):
        x = self.fc(z).view(-1, 2 * self.width, 4, 4)  # allocates
        x = self.up1(x)  # allocates
        x = F.relu(self.norm1(x))  # allocates
        return torch.tanh(self.up2(x))  # allocates


class Discriminator(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 4, 2, 1, bias=False)
        self.conv2 = nn.Conv2d(width, 2 * width, 4, 2, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(2 * width)
        self.fc = nn.Linear(2 * width * 4 * 4, 1)

    def forward(self, x):
        x = F.leaky_relu(self.conv1(x), 0.2)
        x = F.leaky_relu(self.norm2(self.conv2(x)), 0.2)
        return self.fc(x.flatten(1))


def train_batch(D, G, d_optimizer, g_optimizer, real):
    ones, zeros = torch.ones(len(real), 1, device="cuda"), torch.zeros(len(real), 1, device="cuda")
    d_optimizer.zero_grad()
    fake = G(torch.rand(len(real), 100, device="cuda") * 2 - 1)
    d_loss = F.binary_cross_entropy_with_logits(D(real), ones * 0.9)
    d_loss = d_loss + F.binary_cross_entropy_with_logits(D(fake.detach()), zeros)
    d_loss.backward()
    d_optimizer.step()

    g_optimizer.zero_grad()
    fake = G(torch.rand(len(real), 100, device="cuda") * 2 - 1)
    g_loss = F.binary_cross_entropy_with_logits(D(fake), ones)
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


def train(D, G, steps):
    d_optimizer = torch.optim.Adam(D.parameters(), 5e-4, (0.1, 0.99))
    g_optimizer = torch.optim.Adam(G.parameters(), 5e-4, (0.1, 0.99))
    samples, losses = [], []
    fixed_z = torch.rand(16, 100, device="cuda") * 2 - 1
    for step in range(steps):
        real = torch.rand(20, 3, 16, 16, device="cuda") * 2 - 1  # step
        losses.append(train_batch(D, G, d_optimizer, g_optimizer, real))
        if (step + 1) % PER_EPOCH == 0:
            G.eval()
            samples_z = G(fixed_z)
            samples.append(samples_z)  # keeps
            G.train()
    return samples, losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    samples, losses = train(Discriminator().cuda(), Generator().cuda(), chosen.steps)
    print(f"{len(samples)} sheets of faces, losses at the end {losses[-1]}")


if __name__ == "__main__":
    main()
