# SPDX-License-Identifier: Apache-2.0
"""Turns photographs into paintings; the discriminator also sees images that were painted earlier."""

import argparse
import random

import torch
from torch import nn


class ImagePool:
    """Hands out the given images, or half of the time, once it is full, earlier ones in exchange for them."""

    def __init__(self, pool_size, seed):
        self.pool_size = pool_size
        self.num_imgs, self.images = 0, []
        self.chance = random.Random(seed)

    def query(self, images):
        if self.pool_size == 0:
            return images
        chosen = []
        for image in images:
            image = image.detach()[None].clone()
            if self.num_imgs < self.pool_size:
                self.num_imgs += 1
                self.images.append(image)
                chosen.append(image)
            elif self.chance.random() > 0.5:
                place = self.chance.randrange(self.pool_size)
                chosen.append(self.images[place].clone())
                self.images[place] = image
            else:
                chosen.append(image)
        return torch.cat(chosen)


class Painter:
    def __init__(self, pool_size, seed, width=16):
        self.generator = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(),
                                       nn.Conv2d(width, 3, 3, padding=1), nn.Tanh()).cuda()
        self.discriminator = nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2),
                                           nn.Conv2d(width, 1, 4, 2, 1)).cuda()
        self.pool = ImagePool(pool_size, seed)
        self.optimizer_g = torch.optim.Adam(self.generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.optimizer_d = torch.optim.Adam(self.discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))

    def optimize(self, photos, paintings):
        fake = self.generator(photos)
        self.optimizer_g.zero_grad()
        loss_g = (self.discriminator(fake) - 1).square().mean() + (fake - photos).abs().mean()
        loss_g.backward()
        self.optimizer_g.step()

        earlier = self.pool.query(fake)
        self.optimizer_d.zero_grad()
        loss_d = self.discriminator(earlier).square().mean() + (self.discriminator(paintings) - 1).square().mean()
        loss_d.backward()
        self.optimizer_d.step()
        return loss_g.item(), loss_d.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    painter = Painter(pool_size=50, seed=chosen.seed)
    for _ in range(chosen.steps):
        photos = torch.rand(1, 3, 64, 64, device="cuda")  # step
        paintings = torch.rand(1, 3, 64, 64, device="cuda")
        losses = painter.optimize(photos, paintings)
    print("generator {:.3f}, discriminator {:.3f}".format(*losses))


if __name__ == "__main__":
    main()
