# SPDX-License-Identifier: Apache-2.0
"""Sharpness-aware minimisation: where the weights went uphill is noted in every step; only the last is used."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Sharpness:
    def __init__(self, base, rho=0.05):
        self.base, self.rho, self.climbs = base, rho, []

    def weights(self):
        return [weight for group in self.base.param_groups for weight in group["params"]]

    @torch.no_grad()
    def climb(self):
        slopes = [weight.grad for weight in self.weights()]
        scale = self.rho / (torch.stack([slope.norm() for slope in slopes]).norm() + 1e-12)
        moves = [slope * scale for slope in slopes]  # allocates
        for weight, move in zip(self.weights(), moves):
            weight.add_(move)
        self.climbs.append(moves)  # keeps

    @torch.no_grad()
    def descend(self):
        for weight, move in zip(self.weights(), self.climbs[-1]):
            weight.sub_(move)
        self.base.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=34)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 32)).cuda()
    optimizer = Sharpness(torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9))
    for _ in range(args.steps):
        rows, kinds = torch.randn(256, 64).cuda(), torch.randint(32, (256,)).cuda()  # step
        for move in (optimizer.climb, optimizer.descend):
            net.zero_grad()
            loss = F.cross_entropy(net(rows), kinds)
            loss.backward()
            move()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
