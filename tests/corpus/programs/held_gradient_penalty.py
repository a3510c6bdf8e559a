# SPDX-License-Identifier: Apache-2.0
"""A Wasserstein GAN with gradient penalty: gradients of gradients, five critic steps for each other one."""

import argparse

import torch
from torch import nn

def penalty(critic, real, false):
    share = torch.rand(len(real), 1, 1, 1, device=real.device)
    mixed = (share * real + (1 - share) * false).requires_grad_()
    slopes, = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return (slopes.flatten(1).norm(dim=1) - 1).square().mean()


def critic_step(critic, optimizer, real, false):
    gap = critic(false).mean() - critic(real).mean()
    extra = penalty(critic, real, false)
    optimizer.zero_grad()
    (gap + 10 * extra).backward()
    optimizer.step()
    return {"gap": gap.item(), "penalty": extra.item()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    critic = nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(1024, 1)).cuda()
    maker = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Unflatten(1, (1, 16, 16))).cuda()
    for_critic = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
    for_maker = torch.optim.Adam(maker.parameters(), lr=1e-4, betas=(0.0, 0.9))
    history = []
    for step in range(1, chosen.steps + 1):
        real = torch.rand(32, 1, 16, 16).cuda()
        with torch.no_grad():
            false = maker(torch.randn(32, 32, device="cuda"))
        history.append(critic_step(critic, for_critic, real, false))
        if step % 5 == 0:
            for_maker.zero_grad()
            (-critic(maker(torch.randn(32, 32, device="cuda"))).mean()).backward()
            for_maker.step()


if __name__ == "__main__":
    main()
