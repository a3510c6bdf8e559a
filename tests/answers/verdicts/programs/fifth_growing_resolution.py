# SPDX-License-Identifier: Apache-2.0
"""Progressive growing of a GAN: pictures begin with 8 by 8 points and double until 64 by 64."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Generator(nn.Module):
    def __init__(self, latent=64, width=16, stages=4):
        super().__init__()
        self.start = nn.Linear(latent, width * 16)
        self.blocks = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(stages))
        self.to_rgb = nn.ModuleList(nn.Conv2d(width, 3, 1) for _ in range(stages))

    def forward(self, z, stage):
        x = self.start(z).unflatten(1, (-1, 4, 4))
        for block in self.blocks[:stage + 1]:
            x = F.leaky_relu(block(F.interpolate(x, scale_factor=2)), 0.2)
        return torch.tanh(self.to_rgb[stage](x))


class Critic(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, width, 3, stride=2, padding=1), nn.Linear(width * 16, 1)

    def forward(self, x):
        return self.second(F.adaptive_avg_pool2d(F.leaky_relu(self.first(x), 0.2), 4).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=17)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps-per-stage", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    generator, critic = Generator().cuda(), Critic().cuda()
    g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.99))
    c_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.99))
    last_stage = len(generator.blocks) - 1
    for step in range(args.steps):
        stage = min(step // args.steps_per_stage, last_stage)  # step
        size = 8 << stage
        real, z = torch.rand(8, 3, size, size).cuda(), torch.randn(8, 64).cuda()
        fake = generator(z, stage)
        c_loss = F.softplus(critic(fake.detach())).mean() + F.softplus(-critic(real)).mean()
        c_optimizer.zero_grad()
        c_loss.backward()
        c_optimizer.step()
        g_loss = F.softplus(-critic(fake)).mean()
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()


if __name__ == "__main__":
    main()
