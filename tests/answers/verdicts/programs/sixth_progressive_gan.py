# SPDX-License-Identifier: Apache-2.0
"""A GAN that begins with small images, and grows by a block in generator and critic whenever a phase is over."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Generator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.enter = nn.Linear(64, width * 16)
        self.blocks = nn.ModuleList()
        self.leave = nn.Conv2d(width, 3, 1)

    def grow(self):
        self.blocks.append(nn.Conv2d(self.width, self.width, 3, padding=1).cuda())

    def forward(self, z):
        x = self.enter(z).unflatten(1, (self.width, 4, 4))
        for block in self.blocks:
            x = F.leaky_relu(block(F.interpolate(x, scale_factor=2)), 0.2)
        return torch.tanh(self.leave(x))


class Critic(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.enter = nn.Conv2d(3, width, 1)
        self.blocks = nn.ModuleList()
        self.leave = nn.Linear(width * 16, 1)

    def grow(self):
        self.blocks.insert(0, nn.Conv2d(self.width, self.width, 3, padding=1).cuda())

    def forward(self, images):
        x = F.leaky_relu(self.enter(images), 0.2)
        for block in self.blocks:
            x = F.avg_pool2d(F.leaky_relu(block(x), 0.2), 2)
        return self.leave(x.flatten(1))


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.0, 0.99))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--phase", type=int, default=16)
    parser.add_argument("--resolution", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    generator, critic, size = Generator(32).cuda(), Critic(32).cuda(), 4
    for_g, for_c = adam(generator), adam(critic)
    for step in range(args.steps):
        phase, into = divmod(step, args.phase)  # step
        if phase and into == 0 and size < args.resolution:
            size *= 2
            generator.grow()
            critic.grow()
            for_g, for_c = adam(generator), adam(critic)
        real = torch.rand(4, 3, size, size, device="cuda")
        fake = generator(torch.randn(4, 64, device="cuda"))
        for_c.zero_grad()
        (F.softplus(-critic(real)) + F.softplus(critic(fake.detach()))).mean().backward()
        for_c.step()
        for_g.zero_grad()
        F.softplus(-critic(fake)).mean().backward()
        for_g.step()


if __name__ == "__main__":
    main()
