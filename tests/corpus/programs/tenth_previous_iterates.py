# SPDX-License-Identifier: Apache-2.0
"""Solves for the fixed point of a smoothing map on a grid, and extrapolates from iterates before the present one."""

import argparse

import torch


class Acceleration:
    def __init__(self, window_size=8, reg=1e-6, mixing=1.0):
        self.window_size, self.reg, self.mixing = window_size, reg, mixing
        self.iterates, self.images = [], []

    def apply(self, iterate, image):
        self.iterates.append(iterate)
        self.images.append(image)
        if len(self.iterates) > self.window_size:
            self.iterates.pop(0)
            self.images.pop(0)
        if len(self.iterates) < 2:
            return image
        iterates, images = torch.stack(self.iterates), torch.stack(self.images)
        residuals = images - iterates
        gram = residuals @ residuals.T
        gram = gram / gram.norm() + self.reg * torch.eye(gram.shape[0], device=gram.device)
        weights = self.descend(gram)
        return (1 - self.mixing) * (weights @ iterates) + self.mixing * (weights @ images)

    @staticmethod
    def descend(gram, rounds=12):
        """The weights, which sum to one, that make the combined residual small."""
        weights = torch.full((gram.shape[0],), 1.0 / gram.shape[0], device=gram.device)
        for _ in range(rounds):
            slope = gram @ weights
            weights = weights - 0.5 * (slope - slope.mean())
        return weights


def smooth(field, source, side):
    grid = field.view(side, side)
    around = grid.roll(1, 0) + grid.roll(-1, 0) + grid.roll(1, 1) + grid.roll(-1, 1)
    return (0.24 * around + source).flatten()


@torch.no_grad()
def solve(side, steps):
    source = torch.rand(side, side, device="cuda")
    acceleration, field = Acceleration(), torch.zeros(side * side, device="cuda")
    for _ in range(steps):
        image = smooth(field, source, side)  # step
        field = acceleration.apply(field, image)
    return field


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    print(f"mean {solve(128, chosen.steps).mean().item():.4f}")


if __name__ == "__main__":
    main()
