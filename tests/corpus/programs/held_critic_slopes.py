# SPDX-License-Identifier: Apache-2.0
"""A critic with clipped weights; its slope between real and false rows is watched, for a plot."""

import argparse
from collections import defaultdict

import torch
from torch import nn

class Monitor:
    def __init__(self):
        self.curves = defaultdict(list)

    def add(self, **values):
        for name, value in values.items():
            self.curves[name].append(value)  # keeps


def slope(critic, real, false):
    share = torch.rand(len(real), 1, device="cuda")
    mixed = torch.lerp(real, false, share).requires_grad_()  # allocates
    scores = critic(mixed)  # allocates
    slopes, = torch.autograd.grad(scores.sum(), mixed, create_graph=True)  # allocates
    return slopes.norm(dim=1).mean()  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    critic = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1)).cuda()
    maker = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 64)).cuda()
    for_critic = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
    for_maker = torch.optim.RMSprop(maker.parameters(), lr=5e-5)
    monitor = Monitor()
    for step in range(chosen.steps):
        real = torch.randn(64, 64).cuda()
        false = maker(torch.randn(64, 16, device="cuda"))
        gap = critic(false.detach()).mean() - critic(real).mean()
        for_critic.zero_grad()
        gap.backward()
        for_critic.step()
        with torch.no_grad():
            for weight in critic.parameters():
                weight.clamp_(-0.01, 0.01)
        for_maker.zero_grad()
        (-critic(false).mean()).backward()
        for_maker.step()
        monitor.add(gap=gap.item(), slope=slope(critic, real, false.detach()))


if __name__ == "__main__":
    main()
