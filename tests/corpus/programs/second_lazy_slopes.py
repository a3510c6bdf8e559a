# SPDX-License-Identifier: Apache-2.0
"""A GAN whose critic is held back by its slope, every eighth step only: that step needs far more than the others."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def critic():
    return nn.Sequential(nn.Conv2d(1, 32, 4, 2, 1), nn.SiLU(), nn.Conv2d(32, 64, 4, 2, 1), nn.SiLU(),
                         nn.Flatten(), nn.Linear(64 * 6 * 6, 1)).cuda()


def slope_penalty(net, real):
    real = real.clone().requires_grad_()
    slopes, = torch.autograd.grad(net(real).sum(), real, create_graph=True)
    return slopes.square().sum((1, 2, 3)).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    judge, maker = critic(), nn.Sequential(nn.Linear(24, 576), nn.Sigmoid(), nn.Unflatten(1, (1, 24, 24))).cuda()
    judges, makes = torch.optim.Adam(judge.parameters(), 2e-4), torch.optim.Adam(maker.parameters(), 2e-4)
    penalties = []
    for step in range(1, args.steps + 1):
        real, noise = torch.rand(32, 1, 24, 24).cuda(), torch.randn(32, 24).cuda()  # step
        loss = F.softplus(judge(maker(noise).detach())).mean() + F.softplus(-judge(real)).mean()
        if step % 8 == 0:
            penalty = slope_penalty(judge, real)
            loss = loss + 40 * penalty
            penalties.append(penalty.item())
        judges.zero_grad()
        loss.backward()
        judges.step()
        makes.zero_grad()
        F.softplus(-judge(maker(noise))).mean().backward()
        makes.step()
    print(f"{len(penalties)} penalties")


if __name__ == "__main__":
    main()
