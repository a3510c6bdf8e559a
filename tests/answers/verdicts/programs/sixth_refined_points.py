# SPDX-License-Identifier: Apache-2.0
"""Solves the heat equation with a network, and adds points where the equation is met worst."""

import argparse

import torch
from torch import nn


class Solution(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                                    nn.Linear(width, 1))

    def forward(self, x, t):
        return self.layers(torch.cat([x, t], 1))


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


def residual(model, points, conductivity=0.1):
    x, t = (column.clone().requires_grad_() for column in points.split(1, 1))
    u = model(x, t)
    return derivative(u, t) - conductivity * derivative(derivative(u, x), x)


class Collocation:
    def __init__(self, count, most):
        self.points = torch.rand(count, 2, device="cuda")
        self.most = most

    def refine(self, model, add):
        room = min(add, self.most - len(self.points))
        if room == 0:
            return
        candidates = torch.rand(4 * add, 2, device="cuda")
        worst = residual(model, candidates).detach().abs().flatten().topk(room).indices
        self.points = torch.cat([self.points, candidates[worst]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--refine-every", type=int, default=4)
    parser.add_argument("--max-points", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model, collocation = Solution().cuda(), Collocation(1000, args.max_points)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        start = torch.rand(256, 1, device="cuda")  # step
        wanted = torch.sin(torch.pi * start)
        of_equation = residual(model, collocation.points)
        of_start = model(start, torch.zeros_like(start)) - wanted
        loss = of_equation.square().mean() + 10 * of_start.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % args.refine_every == 0:
            collocation.refine(model, add=500)


if __name__ == "__main__":
    main()
