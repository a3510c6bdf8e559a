# SPDX-License-Identifier: Apache-2.0
"""CycleGAN's pool of earlier fakes, half of which are shown to the discriminator instead of the newest."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn


class ImagePool:
    def __init__(self, pool_size):
        self.pool_size = pool_size
        self.num_imgs = 0
        self.images = []

    def query(self, images):
        if self.pool_size == 0:
            return images
        returned = []
        for image in images.detach():
            image = image[None].clone()
            if self.num_imgs < self.pool_size:
                self.num_imgs += 1
                self.images.append(image)
                returned.append(image)
            elif random.random() > 0.5:
                place = random.randint(0, self.pool_size - 1)
                old = self.images[place].clone()
                self.images[place] = image
                returned.append(old)
            else:
                returned.append(image)
        return torch.cat(returned)


def translator():
    return nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 3, 3, padding=1), nn.Tanh())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pool-size", type=int, default=50)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    there, back = translator().cuda(), translator().cuda()
    critic = nn.Sequential(nn.Conv2d(3, 12, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(12, 1, 4, stride=2)).cuda()
    pool = ImagePool(args.pool_size)
    g_optimizer = torch.optim.Adam([*there.parameters(), *back.parameters()], lr=2e-4, betas=(0.5, 0.999))
    d_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for _ in range(args.steps):
        horse, zebra = torch.rand(2, 1, 3, 64, 64).cuda()  # step
        fake = there(horse)
        g_loss = (critic(fake) - 1).pow(2).mean() + 10 * F.l1_loss(back(fake), horse)
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
        shown = pool.query(fake)
        d_loss = (critic(zebra) - 1).pow(2).mean() + critic(shown).pow(2).mean()
        d_optimizer.zero_grad()
        d_loss.backward()
        d_optimizer.step()


if __name__ == "__main__":
    main()
