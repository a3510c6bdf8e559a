# SPDX-License-Identifier: Apache-2.0
"""A sweep over learning rates: short trainings one after the other in one process."""

import argparse

import torch
from torch import nn


def train(rate, steps):
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        signal = torch.randn(64, 256, device="cuda")
        loss = nn.functional.mse_loss(model(signal), signal)  # fills
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses[-5:]).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    rates = [10 ** -exponent for exponent in range(1, 7)]
    results = {rate: train(rate, chosen.steps // len(rates)) for rate in rates}
    print("best:", min(results, key=results.get))


if __name__ == "__main__":
    main()
