# SPDX-License-Identifier: Apache-2.0
"""A generator and a critic that begin with images of 4 by 4 pixels and go on to larger ones, stage by stage."""

import argparse
import math

import torch
from torch import nn
from torch.nn import functional

WIDTHS = [64, 64, 32, 16]
STAGE, FADE = 12, 6


def depth_of(size):
    return int(math.log2(size)) - 1


class UpBlock(nn.Module):
    def __init__(self, inputs, outputs, first=False):
        super().__init__()
        self.first = first
        self.conv1 = nn.Conv2d(inputs, outputs, 4 if first else 3, padding=3 if first else 1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)

    def forward(self, x):
        x = x if self.first else functional.interpolate(x, scale_factor=2)
        x = functional.leaky_relu(self.conv1(x), 0.2)
        return functional.leaky_relu(self.conv2(x), 0.2)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        inputs = [WIDTHS[0], *WIDTHS[:-1]]
        self.blocks = nn.ModuleList(UpBlock(*pair, first=not number) for number, pair in enumerate(zip(inputs, WIDTHS)))
        self.to_rgb = nn.ModuleList(nn.Conv2d(width, 3, 1) for width in WIDTHS)

    def forward(self, x, size, alpha):
        depth = depth_of(size)
        for block in self.blocks[:max(depth - 1, 1)]:
            x = block(x)
        if depth == 1:
            return self.to_rgb[0](x)
        skip = functional.interpolate(self.to_rgb[depth - 2](x), scale_factor=2)
        return (1 - alpha) * skip + alpha * self.to_rgb[depth - 1](self.blocks[depth - 1](x))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        outputs = [WIDTHS[0], *WIDTHS[:-1]]
        self.blocks = nn.ModuleList(nn.Conv2d(*pair, 3, padding=1) for pair in zip(WIDTHS, outputs))
        self.from_rgb = nn.ModuleList(nn.Conv2d(3, width, 1) for width in WIDTHS)
        self.score = nn.Linear(WIDTHS[0] * 16, 1)

    def down(self, x, number):
        x = functional.leaky_relu(self.blocks[number](x), 0.2)
        return functional.avg_pool2d(x, 2) if number else x

    def forward(self, images, size, alpha):
        depth = depth_of(size)
        x = self.down(self.from_rgb[depth - 1](images), depth - 1)
        if depth > 1:
            x = (1 - alpha) * self.from_rgb[depth - 2](functional.avg_pool2d(images, 2)) + alpha * x
            for number in range(depth - 2, -1, -1):
                x = self.down(x, number)
        return self.score(x.flatten(1))


def train_step(generator, critic, optimizers, size, alpha, batch=4):
    real = torch.rand(batch, 3, size, size, device="cuda")
    fake = generator(torch.randn(batch, WIDTHS[0], 1, 1, device="cuda"), size, alpha)
    optimizers[1].zero_grad()
    loss = critic(fake.detach(), size, alpha).mean() - critic(real, size, alpha).mean()
    loss.backward()
    optimizers[1].step()
    optimizers[0].zero_grad()
    (-critic(fake, size, alpha).mean()).backward()
    optimizers[0].step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    generator, critic = Generator().cuda(), Critic().cuda()
    optimizers = [torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.0, 0.99)) for net in (generator, critic)]
    for step in range(chosen.steps):
        stage = min(step // STAGE, len(WIDTHS) - 1)  # step
        size, alpha = 4 * 2 ** stage, min((step - stage * STAGE + 1) / FADE, 1.0)
        loss = train_step(generator, critic, optimizers, size, alpha)
    print(f"{size} by {size} pixels, loss {loss:.3f}")


if __name__ == "__main__":
    main()
