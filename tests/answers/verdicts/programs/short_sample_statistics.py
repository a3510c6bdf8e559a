# SPDX-License-Identifier: Apache-2.0
"""A GAN whose samples are judged each eight steps: features of ten batches are collected, then compared."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def covariance(features):
    centred = features - features.mean(0)
    return centred.T @ centred / (len(features) - 1)


@torch.no_grad()
def distance(generator, judge, batches=10):
    false, real = [], []
    for _ in range(batches):
        false.append(judge(generator(torch.randn(64, 16, device="cuda"))))  # fills
        real.append(judge(torch.rand(64, 144, device="cuda")))  # fills
    false, real = torch.cat(false), torch.cat(real)
    means = (false.mean(0) - real.mean(0)).square().sum()
    return (means + (covariance(false) - covariance(real)).square().sum().sqrt()).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    generator = nn.Sequential(nn.Linear(16, 96), nn.LeakyReLU(), nn.Linear(96, 144), nn.Sigmoid()).cuda()
    critic = nn.Sequential(nn.Linear(144, 96), nn.LeakyReLU(), nn.Linear(96, 1)).cuda()
    judge = nn.Sequential(nn.Linear(144, 192), nn.Tanh()).cuda().requires_grad_(False)
    optimizers = [torch.optim.Adam(one.parameters(), lr=2e-4, betas=(0.5, 0.99)) for one in (generator, critic)]
    for step in range(1, chosen.steps + 1):
        real, drawn = torch.rand(64, 144).cuda(), torch.randn(64, 16).cuda()
        false = generator(drawn)
        optimizers[1].zero_grad()
        (F.softplus(critic(false.detach())).mean() + F.softplus(-critic(real)).mean()).backward()
        optimizers[1].step()
        optimizers[0].zero_grad()
        F.softplus(-critic(false)).mean().backward()
        optimizers[0].step()
        if step % 8 == 0:
            print(f"step {step}: distance {distance(generator, judge):.4f}")


if __name__ == "__main__":
    main()
