# SPDX-License-Identifier: Apache-2.0
"""Translates images between two domains; the discriminators also see images that the generators made earlier."""

import argparse
import itertools
import random

import torch
from torch import nn

SIZE = 32


def generator():
    return nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 3, 3, padding=1), nn.Tanh())


def discriminator():
    return nn.Sequential(nn.Conv2d(3, 12, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(12, 1, 4, stride=2))


class ImageBuffer:
    def __init__(self, max_size, rng):
        self.max_size, self.rng = max_size, rng
        self.data = []

    def push_and_pop(self, images):
        """As many images as came: these, or half of the time earlier ones in their places."""
        chosen = []
        for image in images.detach():
            image = image.unsqueeze(0)
            if len(self.data) < self.max_size:
                self.data.append(image)
                chosen.append(image)
            elif self.rng.uniform(0, 1) > 0.5:
                place = self.rng.randint(0, self.max_size - 1)
                chosen.append(self.data[place].clone())
                self.data[place] = image
            else:
                chosen.append(image)
        return torch.cat(chosen)


class Translation:
    def __init__(self, pool, rng):
        self.to_b, self.to_a = generator().cuda(), generator().cuda()
        self.judge_a, self.judge_b = discriminator().cuda(), discriminator().cuda()
        self.fake_a_buffer, self.fake_b_buffer = ImageBuffer(pool, rng), ImageBuffer(pool, rng)
        makers = itertools.chain(self.to_b.parameters(), self.to_a.parameters())
        judges = itertools.chain(self.judge_a.parameters(), self.judge_b.parameters())
        self.make = torch.optim.Adam(makers, lr=2e-4, betas=(0.5, 0.999))
        self.judge = torch.optim.Adam(judges, lr=2e-4, betas=(0.5, 0.999))

    def step(self, real_a, real_b):
        self.make.zero_grad()
        fake_b, fake_a = self.to_b(real_a), self.to_a(real_b)
        fooled = (self.judge_b(fake_b) - 1).square().mean() + (self.judge_a(fake_a) - 1).square().mean()
        cycle = (self.to_a(fake_b) - real_a).abs().mean() + (self.to_b(fake_a) - real_b).abs().mean()
        (fooled + 10 * cycle).backward()
        self.make.step()

        self.judge.zero_grad()
        older_a, older_b = self.fake_a_buffer.push_and_pop(fake_a), self.fake_b_buffer.push_and_pop(fake_b)
        loss = (self.judge_a(real_a) - 1).square().mean() + self.judge_a(older_a).square().mean()
        loss = loss + (self.judge_b(real_b) - 1).square().mean() + self.judge_b(older_b).square().mean()
        loss.backward()
        self.judge.step()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pool", type=int, default=20)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Translation(chosen.pool, random.Random(chosen.seed))
    for step in range(chosen.steps):
        pair = torch.rand(2, 1, 3, SIZE, SIZE) * 2 - 1  # step
        loss = model.step(pair[0].cuda(), pair[1].cuda())
        if step % 4 == 0:
            print(f"batch {step}: discriminators {loss:.4f}")


if __name__ == "__main__":
    main()
