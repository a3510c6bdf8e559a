# SPDX-License-Identifier: Apache-2.0
"""An advection equation solved by a network of piecewise linear functions (a KAN) on grids that are refined."""

import argparse
import math

import torch
from torch import nn
from torch.nn import functional

SPEED = 0.5


class SplineLayer(nn.Module):
    """A function of its own for each pair of input and output, by its values at the knots."""

    def __init__(self, inputs, outputs, knots):
        super().__init__()
        self.values = nn.Parameter(torch.randn(inputs, outputs, knots) / math.sqrt(inputs))

    def forward(self, x):
        knots = self.values.shape[-1]
        place = (x.tanh() + 1) / 2 * (knots - 1)
        hats = functional.relu(1 - (place[..., None] - torch.arange(knots, device=x.device)).abs())
        return hats.flatten(1) @ self.values.transpose(1, 2).flatten(0, 1)

    @torch.no_grad()
    def refine(self, knots):
        self.values = nn.Parameter(functional.interpolate(self.values, size=knots, mode="linear", align_corners=True))


class Solver:
    def __init__(self, knots=8, finest=80, every=6):
        self.knots, self.finest, self.every = knots, finest, every
        self.layers = nn.Sequential(
            SplineLayer(2, 24, knots), SplineLayer(24, 24, knots), SplineLayer(24, 1, knots)).cuda()
        self.renew_optimizer()

    def renew_optimizer(self):
        self.optimizer = torch.optim.Adam(self.layers.parameters(), lr=5e-3)

    def refine(self):
        knots = min(self.knots + 8, self.finest)
        if knots == self.knots:
            return
        for layer in self.layers:
            layer.refine(knots)
        self.knots = knots
        self.renew_optimizer()

    def residual(self, count):
        places = torch.rand(count, 2, device="cuda").requires_grad_()
        slope, = torch.autograd.grad(self.layers(places).sum(), places, create_graph=True)
        return slope[:, 1] + SPEED * slope[:, 0]

    def boundary(self, count):
        places = torch.rand(count, 2, device="cuda") * torch.tensor([1.0, 0.0], device="cuda")
        return self.layers(places).squeeze(1) - torch.sin(2 * math.pi * places[:, 0])

    def train(self, step):
        loss = self.residual(96).square().mean() + self.boundary(48).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if (step + 1) % self.every == 0:
            self.refine()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    solver = Solver()
    for step in range(chosen.steps):
        loss = solver.train(step)  # step
        if step % 10 == 0:
            print(f"step {step}: {solver.knots} knots, loss {loss:.4f}")


if __name__ == "__main__":
    main()
