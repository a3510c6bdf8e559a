# SPDX-License-Identifier: Apache-2.0
"""Trains a generator and a critic on images of four pixels, then of eight and so on, up to sixty-four."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

DEPTHS, STEPS_PER_SCALE = [24, 24, 16, 12, 8], 8


class Generator(nn.Module):
    def __init__(self, latent=32):
        super().__init__()
        self.first = nn.Linear(latent, DEPTHS[0] * 16)
        self.scales, self.to_rgb = nn.ModuleList(), nn.ModuleList([nn.Conv2d(DEPTHS[0], 3, 1)])

    def add_scale(self, depth):
        self.scales.append(nn.Conv2d(DEPTHS[len(self.scales)], depth, 3, padding=1))
        self.to_rgb.append(nn.Conv2d(depth, 3, 1))

    def forward(self, latent, alpha):
        x, before = self.first(latent).view(-1, DEPTHS[0], 4, 4), None
        for number, scale in enumerate(self.scales):
            x = F.interpolate(x, scale_factor=2)
            before = self.to_rgb[number](x)
            x = F.leaky_relu(scale(x), 0.2)
        image = self.to_rgb[len(self.scales)](x)
        return image if before is None or alpha >= 1 else alpha * image + (1 - alpha) * before


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(DEPTHS[0] * 16, 1)
        self.scales, self.from_rgb = nn.ModuleList(), nn.ModuleList([nn.Conv2d(3, DEPTHS[0], 1)])

    def add_scale(self, depth):
        self.scales.append(nn.Conv2d(depth, DEPTHS[len(self.scales)], 3, padding=1))
        self.from_rgb.append(nn.Conv2d(3, depth, 1))

    def forward(self, image):
        x = F.leaky_relu(self.from_rgb[len(self.scales)](image), 0.2)
        for scale in reversed(self.scales):
            x = F.avg_pool2d(F.leaky_relu(scale(x), 0.2), 2)
        return self.last(x.flatten(1))


class Training:
    def __init__(self):
        self.generator, self.critic = Generator().cuda(), Critic().cuda()
        self.optimizers()

    def optimizers(self):
        self.of_generator = torch.optim.Adam(self.generator.parameters(), lr=1e-3, betas=(0.0, 0.99))
        self.of_critic = torch.optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.0, 0.99))

    def grow(self):
        depth = DEPTHS[len(self.generator.scales) + 1]
        self.generator.add_scale(depth)
        self.critic.add_scale(depth)
        self.generator.cuda(), self.critic.cuda()
        self.optimizers()

    def step(self, alpha):
        side = 4 * 2 ** len(self.generator.scales)
        real = torch.rand(8, 3, side, side, device="cuda")
        fake = self.generator(torch.randn(8, 32, device="cuda"), alpha)
        self.of_critic.zero_grad()
        (self.critic(fake.detach()).mean() - self.critic(real).mean()).backward()
        self.of_critic.step()
        self.of_generator.zero_grad()
        (-self.critic(fake).mean()).backward()
        self.of_generator.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    training = Training()
    for number in range(chosen.steps):
        scale, within = divmod(number, STEPS_PER_SCALE)  # step
        if within == 0 and 0 < scale < len(DEPTHS):
            training.grow()
        training.step(min(1.0, 2 * within / STEPS_PER_SCALE) if scale < len(DEPTHS) else 1.0)
    print("images of", 4 * 2 ** len(training.generator.scales), "pixels")


if __name__ == "__main__":
    main()
