# SPDX-License-Identifier: Apache-2.0
"""A GAN with lazy regularisation: penalties wait as closures, and the last four are called each fourth step."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Lazily:
    def __init__(self, every=4):
        self.every, self.waiting = every, []

    def later(self, penalty):
        self.waiting.append(penalty)  # keeps

    def due(self, step):
        return sum(penalty() for penalty in self.waiting[-self.every:]) if step % self.every == 0 else 0.0


def slope_penalty(critic, real, false):
    share = torch.rand(len(real), 1, device=real.device)
    mixed = share * real + (1 - share) * false  # allocates

    def penalty():
        place = mixed.detach().requires_grad_()
        slopes, = torch.autograd.grad(critic(place).sum(), place, create_graph=True)
        return (slopes.square().sum(1) - 1).square().mean()
    return penalty


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=23)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    generator = nn.Sequential(nn.Linear(24, 128), nn.ReLU(), nn.Linear(128, 200)).cuda()
    critic = nn.Sequential(nn.Linear(200, 128), nn.Softplus(), nn.Linear(128, 1)).cuda()
    draws, judges = (torch.optim.Adam(one.parameters(), lr=1e-4) for one in (generator, critic))
    lazily = Lazily()
    for step in range(1, chosen.steps + 1):
        real, false = torch.randn(48, 200).cuda(), generator(torch.randn(48, 24, device="cuda"))
        lazily.later(slope_penalty(critic, real, false.detach()))
        loss = F.softplus(critic(false.detach())).mean() + F.softplus(-critic(real)).mean()
        judges.zero_grad()
        (loss + lazily.due(step)).backward()
        judges.step()
        draws.zero_grad()
        F.softplus(-critic(false)).mean().backward()
        draws.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
