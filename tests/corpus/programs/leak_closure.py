# SPDX-License-Identifier: Apache-2.0
"""A learning-rate rule made of closures remembers the gradients of all steps."""

import argparse

import torch
from torch import nn


def make_gradient_noise_scale(parameters):
    parameters = list(parameters)
    seen = []

    def noise_scale():
        flat = torch.cat([one.grad.flatten() for one in parameters])  # allocates
        seen.append(flat)  # keeps
        mean = sum(seen[-8:]) / len(seen[-8:])
        return ((flat - mean).square().sum() / mean.square().sum().clamp(min=1e-9)).item()

    return noise_scale


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 16)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    noise_scale = make_gradient_noise_scale(model.parameters())
    for step in range(chosen.steps):
        optimizer.zero_grad()
        model(torch.randn(32, 64, device="cuda")).square().mean().backward()
        for group in optimizer.param_groups:
            group["lr"] = 0.05 / (1 + noise_scale())
        optimizer.step()


if __name__ == "__main__":
    main()
