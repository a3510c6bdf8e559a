# SPDX-License-Identifier: Apache-2.0
"""L-BFGS written by hand: it uses the last five pairs of steps and gradients, and has all of them."""

import argparse

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class LimitedMemory:
    def __init__(self, parameters, rate=0.2):
        self.parameters, self.rate = list(parameters), rate
        self.pairs, self.before = [], None

    def direction(self, gradient):
        used, shares = self.pairs[-5:], []
        for moved, change in reversed(used):
            shares.append((moved @ gradient) / (moved @ change))
            gradient = gradient - shares[-1] * change
        if used:
            moved, change = used[-1]
            gradient = gradient * ((moved @ change) / (change @ change))
        for (moved, change), share in zip(used, reversed(shares)):
            gradient = gradient + moved * (share - (change @ gradient) / (moved @ change))
        return gradient

    @torch.no_grad()
    def step(self):
        point = parameters_to_vector(self.parameters)
        gradient = torch.cat([one.grad.flatten() for one in self.parameters])
        if self.before:
            moved = point - self.before[0]  # allocates
            change = gradient - self.before[1]
            self.pairs.append((moved, change + 2 * moved))  # allocates
        self.before = point, gradient
        vector_to_parameters(point - self.rate * self.direction(gradient), self.parameters)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(32, 128), nn.Softplus(), nn.Linear(128, 1)).cuda()
    rows = torch.randn(256, 32, device="cuda")
    wanted = rows[:, :4].prod(1, keepdim=True)
    optimizer = LimitedMemory(model.parameters())
    for _ in range(chosen.steps):
        model.zero_grad()
        loss = (model(rows) - wanted).square().mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
