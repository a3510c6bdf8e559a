# SPDX-License-Identifier: Apache-2.0
"""Turns photographs of summer into winter and back with residual generators; the discriminators are trained on a
history of generated photographs."""

import argparse
import random

import torch
from torch import nn

HISTORY = 50


class ImageBuffer:
    """The previously created images of one side."""

    def __init__(self, size, draw):
        self.size, self.draw = size, draw
        self.data = []

    def push_and_pop(self, data):
        images = []
        for image in data.data:
            image = image.unsqueeze(0)
            if len(self.data) < self.size:
                self.data.append(image)
                images.append(image)
            elif self.draw.uniform(0, 1) > 0.5:
                i = self.draw.randint(0, self.size - 1)
                images.append(self.data[i].clone())
                self.data[i] = image
            else:
                images.append(image)
        return torch.cat(images)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.InstanceNorm2d(width), nn.ReLU(),
                                    nn.Conv2d(width, width, 3, padding=1), nn.InstanceNorm2d(width))

    def forward(self, x):
        return x + self.layers(x)


def generator(width=12):
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), Residual(width),
                         nn.Conv2d(width, 3, 3, padding=1), nn.Tanh())


def discriminator(width=12):
    return nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(width, 1, 4, 2, 1))


class Side:
    """One season: its generator makes it of the other one."""

    def __init__(self, draw):
        self.generator, self.discriminator = generator().cuda(), discriminator().cuda()
        self.buffer = ImageBuffer(HISTORY, draw)
        self.optimizer = torch.optim.Adam(self.discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))

    def train_discriminator(self, real, fake):
        fake = self.buffer.push_and_pop(fake)
        loss = (self.discriminator(real) - 1).square().mean() + self.discriminator(fake).square().mean()
        self.optimizer.zero_grad()
        (loss / 2).backward()
        self.optimizer.step()


def train_generators(summer, winter, optimizer, warm, cold):
    made_cold, made_warm = winter.generator(warm), summer.generator(cold)
    loss = (winter.discriminator(made_cold) - 1).square().mean() + (summer.discriminator(made_warm) - 1).square().mean()
    loss = loss + 10 * (summer.generator(made_cold) - warm).abs().mean()
    loss = loss + 10 * (winter.generator(made_warm) - cold).abs().mean()
    loss = loss + 5 * ((summer.generator(warm) - warm).abs().mean() + (winter.generator(cold) - cold).abs().mean())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return made_warm, made_cold


def train_pair(summer, winter, optimizer, warm, cold):
    made_warm, made_cold = train_generators(summer, winter, optimizer, warm, cold)
    summer.train_discriminator(warm, made_warm)
    winter.train_discriminator(cold, made_cold)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)
    summer, winter = Side(draw), Side(draw)
    weights = [*summer.generator.parameters(), *winter.generator.parameters()]
    optimizer = torch.optim.Adam(weights, lr=2e-4, betas=(0.5, 0.999))
    for _ in range(chosen.steps):
        warm = torch.rand(1, 3, 24, 24, device="cuda") * 2 - 1  # step
        cold = torch.rand(1, 3, 24, 24, device="cuda") * 2 - 1
        train_pair(summer, winter, optimizer, warm, cold)
    print(f"{len(summer.buffer.data)} and {len(winter.buffer.data)} generated photographs")


if __name__ == "__main__":
    main()
