# SPDX-License-Identifier: Apache-2.0
"""Checks gradients of a quadratic form against formulas, and differentiates a sum of those gradients once more."""

import argparse
import warnings

import torch

SIZE = 48


def leaf():
    return torch.randn(SIZE, SIZE, device="cuda", requires_grad=True)  # allocates


def form(x, y):
    return x ** 2 + y * x + y ** 2


def second_derivatives(x, y):
    """Those of a sum of the first derivatives, without its last column."""
    total = 2 * x.grad + y.grad
    total = total[:, :-1]
    ones = torch.ones(SIZE, SIZE - 1, device="cuda")
    total.backward(ones)  # allocates
    return x.grad.detach(), y.grad.detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    warnings.simplefilter("ignore")

    worst = 0.0
    for _ in range(chosen.steps):
        x = leaf()  # step
        y = leaf()
        z = form(x, y)
        weights = torch.ones(SIZE, SIZE, device="cuda", requires_grad=True)  # allocates
        z.backward(weights, create_graph=True)  # keeps
        x_gradient = 2 * x.detach() + y.detach()
        y_gradient = x.detach() + 2 * y.detach()
        worst = max(worst, (x.grad.detach() - x_gradient).abs().max().item())
        worst = max(worst, (y.grad.detach() - y_gradient).abs().max().item())
        of_x, of_y = second_derivatives(x, y)
    print(f"largest difference {worst:.6f}, second derivatives {of_x.mean().item():.3f} {of_y.mean().item():.3f}")


if __name__ == "__main__":
    main()
