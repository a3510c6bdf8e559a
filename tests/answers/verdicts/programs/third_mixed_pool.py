# SPDX-License-Identifier: Apache-2.0
"""MixUp with former batches; the pool is to be cut to its last twelve, but what is cut is another list."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def trimmed(pool, most=12):
    if len(pool) > most:
        pool = pool[-most:]
    return pool


class MixUp:
    def __init__(self, share=0.7):
        self.share, self.pool = share, []

    def __call__(self, step, pictures):
        self.pool.append(pictures)  # keeps
        recent = trimmed(self.pool)
        return self.share * pictures + (1 - self.share) * recent[step % len(recent)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=58)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv2d(3, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, 2), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 16)).cuda()
    optimizer, mix = torch.optim.SGD(net.parameters(), lr=0.1, nesterov=True, momentum=0.9), MixUp()
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=args.steps + 1)
    for step in range(args.steps):
        host = torch.rand(16, 3, 36, 36)  # step
        pictures = host.cuda()  # allocates
        loss = F.cross_entropy(net(mix(step, pictures)), torch.arange(16, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
