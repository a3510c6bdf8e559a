# SPDX-License-Identifier: Apache-2.0
"""A network learns a heat equation; what it gets wrong is listed with its graph, which knows the points it is for."""

import argparse

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                                    nn.Linear(width, 1))

    def forward(self, points):
        return self.layers(points)


def slope(values, points):
    return torch.autograd.grad(values.sum(), points, create_graph=True)[0]


def residual(field, points):
    first = slope(field(points), points)
    second = slope(first[:, 0], points)
    return first[:, 1] - 0.1 * second[:, 0]  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    field, residuals = Field().cuda(), []
    optimizer = torch.optim.Adam(field.parameters(), lr=1e-3)
    for step in range(args.steps):
        optimizer.zero_grad()  # step
        points = torch.rand(1024, 2, device="cuda", requires_grad=True)  # allocates
        wrong = residual(field, points)
        wrong.square().mean().backward()  # allocates
        optimizer.step()
        residuals.append(wrong)  # keeps
    print(f"off by {residuals[-1].abs().mean().item():.4f}")


if __name__ == "__main__":
    main()
