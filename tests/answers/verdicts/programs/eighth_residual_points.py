# SPDX-License-Identifier: Apache-2.0
"""Burgers' equation by a physics-informed network; points are put where the equation holds least."""

import argparse
import math

import torch
from torch import nn

VISCOSITY = 0.01 / math.pi


def build_network(width=32):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


def derivative(values, places):
    return torch.autograd.grad(values.sum(), places, create_graph=True)[0]


def residual(network, points):
    places = points.clone().requires_grad_()
    u = network(places)
    slope = derivative(u, places)
    u_x, u_t = slope[:, :1], slope[:, 1:]
    u_xx = derivative(u_x, places)[:, :1]
    return u_t + u * u_x - VISCOSITY * u_xx


class Domain:
    """Columns are x in -1 … 1 and t in 0 … 1."""

    def __init__(self, points, limit):
        self.points = self.draw(points)
        self.limit = limit

    def draw(self, count):
        return torch.rand(count, 2, device="cuda") * torch.tensor([2.0, 1.0], device="cuda") - self.corner()

    def corner(self):
        return torch.tensor([1.0, 0.0], device="cuda")

    def initial(self, count):
        points = self.draw(count)
        points[:, 1] = 0.0
        return points

    def refine(self, network, added):
        """Of four times as many candidates the worst are added."""
        if self.points.size(-1) >= self.limit:
            return
        candidates = self.draw(4 * added)
        worst = residual(network, candidates).detach().abs().squeeze(1).topk(added).indices
        points = torch.cat([self.points, candidates[worst]])  # allocates
        self.points = points  # keeps


def fit(network, optimizer, domain):
    start = domain.initial(64)
    loss = residual(network, domain.points).square().mean()
    loss = loss + (network(start) + torch.sin(math.pi * start[:, :1])).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=2048, help="points at most")
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    network = build_network().cuda()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    domain = Domain(points=256, limit=chosen.limit)
    for step in range(chosen.steps):
        loss = fit(network, optimizer, domain)  # step
        domain.refine(network, added=128)
        if step % 16 == 0:
            print(f"{step}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
