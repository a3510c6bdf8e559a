# SPDX-License-Identifier: Apache-2.0
"""Pictures turned into paintings, and judged beside former ones, from a pool of sixty as in CycleGAN."""

import argparse
import random

import torch
from torch import nn


class Pool:
    def __init__(self, size, rng):
        self.size, self.rng, self.pictures = size, rng, []

    def query(self, pictures):
        """Half of the time a former picture instead, whose place the new one takes."""
        given = []
        for picture in pictures.split(1):
            if len(self.pictures) < self.size:
                self.pictures.append(picture.clone())
                given.append(picture)
            elif self.rng.random() < 0.5:
                place = self.rng.randrange(self.size)
                given.append(self.pictures[place])
                self.pictures[place] = picture.clone()
            else:
                given.append(picture)
        return torch.cat(given)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    painter = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 3, 3, padding=1)).cuda()
    critic = nn.Sequential(nn.Conv2d(3, 12, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(12, 1, 4)).cuda()
    paints, judges = (torch.optim.Adam(one.parameters(), lr=2e-4) for one in (painter, critic))
    pool = Pool(60, random.Random(chosen.seed))
    for _ in range(chosen.steps):
        pictures, paintings = torch.rand(2, 4, 3, 48, 48).cuda()
        false = painter(pictures)
        paints.zero_grad()
        ((critic(false) - 1).square().mean() + (false - pictures).abs().mean()).backward()
        paints.step()
        judges.zero_grad()
        loss = (critic(paintings) - 1).square().mean() + critic(pool.query(false.detach())).square().mean()
        loss.backward()
        judges.step()
    print(f"loss {loss.item():.4f}, {len(pool.pictures)} pictures")


if __name__ == "__main__":
    main()
