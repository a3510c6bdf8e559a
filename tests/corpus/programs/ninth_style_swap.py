# SPDX-License-Identifier: Apache-2.0
"""Trains two translators between two styles of pictures; the critics see earlier translations beside new ones."""

import argparse
import itertools
import random

import torch
from torch import nn
from torch.nn import functional as F

POOL = 24


class ImagePool:
    def __init__(self, pool_size):
        self.pool_size = pool_size
        self.images = []

    def query(self, images):
        if self.pool_size == 0:
            return images
        result = []
        for image in images:
            image = torch.unsqueeze(image.data, 0)
            if len(self.images) < self.pool_size:
                self.images.append(image)
                result.append(image)
            elif random.random() > 0.5:
                at = random.randint(0, self.pool_size - 1)
                result.append(self.images[at].clone())
                self.images[at] = image
            else:
                result.append(image)
        return torch.cat(result, 0)


def translator(width=16):
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.InstanceNorm2d(width), nn.ReLU(),
                         nn.Conv2d(width, 3, 3, padding=1), nn.Tanh())


def critic(width=16):
    return nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(width, 1, 4, 2, 1))


class CycleGAN:
    def __init__(self):
        self.to_b, self.to_a = translator().cuda(), translator().cuda()
        self.critic_a, self.critic_b = critic().cuda(), critic().cuda()
        self.pool_a, self.pool_b = ImagePool(POOL), ImagePool(POOL)
        self.g_optimizer = torch.optim.Adam(itertools.chain(self.to_b.parameters(), self.to_a.parameters()), 2e-4)
        self.d_optimizer = torch.optim.Adam(itertools.chain(self.critic_a.parameters(), self.critic_b.parameters()),
                                            2e-4)

    def judge(self, critic, images, wanted):
        verdict = critic(images)
        return F.mse_loss(verdict, torch.full_like(verdict, wanted))

    def step(self, real_a, real_b):
        fake_b, fake_a = self.to_b(real_a), self.to_a(real_b)
        g_loss = self.judge(self.critic_b, fake_b, 1.0) + self.judge(self.critic_a, fake_a, 1.0)
        g_loss = g_loss + 10 * (F.l1_loss(self.to_a(fake_b), real_a) + F.l1_loss(self.to_b(fake_a), real_b))
        self.g_optimizer.zero_grad()
        g_loss.backward()
        self.g_optimizer.step()

        seen_a, seen_b = self.pool_a.query(fake_a), self.pool_b.query(fake_b)
        d_loss = self.judge(self.critic_a, real_a, 1.0) + self.judge(self.critic_a, seen_a, 0.0)
        d_loss = d_loss + self.judge(self.critic_b, real_b, 1.0) + self.judge(self.critic_b, seen_b, 0.0)
        self.d_optimizer.zero_grad()
        (0.5 * d_loss).backward()
        self.d_optimizer.step()
        return g_loss.item(), d_loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    random.seed(chosen.seed)
    gan = CycleGAN()
    for _ in range(chosen.steps):
        real_a = torch.rand(1, 3, 32, 32, device="cuda") * 2 - 1  # step
        real_b = torch.rand(1, 3, 32, 32, device="cuda") * 2 - 1
        losses = gan.step(real_a, real_b)
    print(f"{len(gan.pool_a.images)} translations kept, losses {losses}")


if __name__ == "__main__":
    main()
