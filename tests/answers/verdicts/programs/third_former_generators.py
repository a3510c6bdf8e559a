# SPDX-License-Identifier: Apache-2.0
"""A GAN whose judge also sees pictures of former generators: a copy every five steps, five at most."""

import argparse
import copy
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F


def generator():
    return nn.Sequential(nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, 768), nn.Tanh(), nn.Unflatten(1, (3, 16, 16)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=33)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    paint = generator().cuda()
    judge = nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(2048, 1)).cuda()
    of_paint = torch.optim.Adam(paint.parameters(), lr=2e-4, betas=(0.5, 0.999))
    of_judge = torch.optim.Adam(judge.parameters(), lr=2e-4, betas=(0.5, 0.999))
    former = deque(maxlen=5)
    for step in range(args.steps):
        real = torch.rand(32, 3, 16, 16).cuda()  # step
        noise = torch.randn(32, 32, device="cuda")
        with torch.no_grad():
            false = torch.cat([paint(noise), *(old(noise) for old in former)])
        loss = F.softplus(-judge(real)).mean() + F.softplus(judge(false)).mean()
        of_judge.zero_grad()
        loss.backward()
        of_judge.step()
        of_paint.zero_grad()
        F.softplus(-judge(paint(noise))).mean().backward()
        of_paint.step()
        if step % 5 == 4:
            former.append(copy.deepcopy(paint).requires_grad_(False))
    print(f"loss {loss.item():.4f}, {len(former)} former generators")


if __name__ == "__main__":
    main()
