# SPDX-License-Identifier: Apache-2.0
"""Translates images with a GAN whose critic is also shown generated images of earlier steps."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class ImagePool:
    def __init__(self, size):
        self.size = size
        self.images = []

    def query(self, images):
        shown = []
        for image in images.detach():
            if len(self.images) < self.size:
                self.images.append(image.clone())
                shown.append(image)
            elif random.random() < 0.5:
                place = random.randrange(self.size)
                shown.append(self.images[place])
                self.images[place] = image.clone()
            else:
                shown.append(image)
        return torch.stack(shown)


class Generator(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.down = nn.Conv2d(3, width, 3, 2, 1)
        self.residual = nn.Conv2d(width, width, 3, padding=1)
        self.up = nn.ConvTranspose2d(width, 3, 2, 2)

    def forward(self, x):
        x = F.relu(self.down(x))
        return torch.tanh(self.up(x + F.relu(self.residual(x))))


def critic():
    return nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 1, 4, 2, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--pool-size", type=int, default=50)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    generator, judge, pool = Generator().cuda(), critic().cuda(), ImagePool(args.pool_size)
    for_generator = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for_judge = torch.optim.Adam(judge.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for _ in range(args.steps):
        horses = torch.rand(args.batch, 3, 64, 64, device="cuda")  # step
        zebras = torch.rand(args.batch, 3, 64, 64, device="cuda")
        made = generator(horses)
        for_generator.zero_grad()
        (judge(made) - 1).square().mean().backward()
        for_generator.step()
        for_judge.zero_grad()
        loss = (judge(zebras) - 1).square().mean() + judge(pool.query(made)).square().mean()
        loss.backward()
        for_judge.step()


if __name__ == "__main__":
    main()
