# SPDX-License-Identifier: Apache-2.0
"""A GAN that grows as written: pictures of 8, 16, 32 and 64 pixels, a layer more on both sides every 15 steps."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

LEVELS, EACH = 4, 15


def layer(inside, outside, last):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), last)


class Pair:
    def __init__(self, width=48):
        self.width, self.paint, self.judge = width, [], []
        self.to_picture = nn.Conv2d(width, 3, 1).cuda()
        self.from_picture, self.score = nn.Conv2d(3, width, 1).cuda(), nn.Linear(width, 1).cuda()
        rest = [*self.from_picture.parameters(), *self.score.parameters()]
        self.of_paint = torch.optim.Adam(self.to_picture.parameters(), lr=1e-3, betas=(0.0, 0.99))
        self.of_judge = torch.optim.Adam(rest, lr=1e-3, betas=(0.0, 0.99))

    def grow(self):
        self.paint.append(layer(self.width, self.width, nn.LeakyReLU(0.2)).cuda())
        self.judge.insert(0, layer(self.width, self.width, nn.LeakyReLU(0.2)).cuda())
        self.of_paint.add_param_group({"params": self.paint[-1].parameters()})
        self.of_judge.add_param_group({"params": self.judge[0].parameters()})

    def pictures(self, noise):
        for level in self.paint:
            noise = level(F.interpolate(noise, scale_factor=2))
        return self.to_picture(noise).tanh()

    def scores(self, pictures):
        seen = self.from_picture(pictures)
        for level in self.judge:
            seen = F.avg_pool2d(level(seen), 2)
        return self.score(seen.mean((2, 3)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    pair = Pair()
    for step in range(args.steps):
        noise = torch.randn(8, pair.width, 4, 4).cuda()  # step
        if step % EACH == 0 and len(pair.paint) < LEVELS:
            pair.grow()
        size = 4 * 2 ** len(pair.paint)
        real, false = torch.rand(8, 3, size, size).cuda(), pair.pictures(noise)
        pair.of_judge.zero_grad()
        (pair.scores(false.detach()) - pair.scores(real)).mean().backward()
        pair.of_judge.step()
        pair.of_paint.zero_grad()
        loss = -pair.scores(false).mean()
        loss.backward()
        pair.of_paint.step()
    print(f"loss {loss.item():.4f}, {size} pixels")


if __name__ == "__main__":
    main()
