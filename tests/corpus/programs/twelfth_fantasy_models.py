# SPDX-License-Identifier: Apache-2.0
"""Looks ahead with a Gaussian process: conditions it on values it imagines at candidates, and predicts from there."""

import argparse
import functools

import torch
from torch import nn


class Kernel(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, left, right):
        distance = (left[:, None] - right[None]).square().sum(-1)
        exponent = -distance * self.scale  # allocates
        return exponent.exp()  # allocates


def clear_cache_hook(strategy, *_):
    strategy.memo = {}


class PredictionStrategy:
    """Predicts from observations; what can be used again is computed once, until it has been differentiated."""

    def __init__(self, kernel, inputs, targets):
        self.kernel, self.inputs, self.targets = kernel, inputs, targets
        self.memo = {}

    def mean_cache(self):
        if "mean_cache" not in self.memo:
            mean_cache = self.kernel(self.inputs, self.inputs) @ self.targets  # allocates
            mean_cache.grad_fn.register_hook(functools.partial(clear_cache_hook, self))
            self.memo["mean_cache"] = mean_cache  # keeps
        return self.memo["mean_cache"]

    def predict(self, points):
        return self.kernel(points, self.inputs) @ self.mean_cache()

    def fantasize(self, points):
        """The strategy with observations added that this one imagines at these points."""
        imagined = self.predict(points) + 0.1 * torch.randn(len(points), 1, device="cuda")
        inputs = torch.cat([self.inputs, points])  # allocates
        targets = torch.cat([self.targets, imagined])  # allocates
        return PredictionStrategy(self.kernel, inputs, targets)


def candidates(count, width):
    return torch.rand(count, width, device="cuda")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    kernel = Kernel().cuda()
    observed = torch.rand(96, 10, device="cuda")
    process = PredictionStrategy(kernel, observed, torch.rand(96, 1, device="cuda"))
    integration_points = torch.rand(100, 10, device="cuda")
    gains = []
    for _ in range(chosen.steps):
        points = candidates(32, 10)  # step
        fantasy = process.fantasize(points)
        gains.append(fantasy.predict(integration_points).max().item())
    print(f"best gain {max(gains):.4f}")


if __name__ == "__main__":
    main()
