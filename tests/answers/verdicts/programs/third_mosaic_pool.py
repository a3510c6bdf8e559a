# SPDX-License-Identifier: Apache-2.0
"""Mosaics of four pictures for a detector: three come from a pool of the last sixteen, the fourth is new."""

import argparse
import random

import torch
from torch import nn


class Mosaic:
    def __init__(self, size=16):
        self.size, self.pool = size, []

    def __call__(self, rng, picture):
        self.pool.append(picture)
        if len(self.pool) > self.size:
            del self.pool[0]
        others = [self.pool[rng.randrange(len(self.pool))] for _ in range(3)]
        upper, lower = torch.cat([picture, others[0]], 3), torch.cat(others[1:], 3)
        return torch.cat([upper, lower], 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng, mosaic = random.Random(args.seed), Mosaic()
    net = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.SiLU(),
                        nn.Conv2d(32, 9, 1)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.937, nesterov=True)
    for _ in range(args.steps):
        picture = torch.rand(4, 3, 64, 64).cuda()  # step
        answers = net(mosaic(rng, picture))
        loss = answers.sigmoid().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
