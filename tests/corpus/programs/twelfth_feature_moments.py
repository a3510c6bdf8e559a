# SPDX-License-Identifier: Apache-2.0
"""Trains an encoder whose features shall stay near their own moving average, through which gradients flow."""

import argparse

import torch
from torch import nn


class MovingAverage:
    """An exponential moving average of tensors that can be differentiated."""

    def __init__(self, momentum):
        self.momentum = momentum
        self.value = None

    def update(self, value):
        if self.value is None:
            self.value = value
        else:
            self.value = self.momentum * self.value + (1 - self.momentum) * value  # keeps
        return self.value


class MomentLoss(nn.Module):
    """Pulls the features to their moving average, and that average to zero."""

    def __init__(self, momentum=0.9):
        super().__init__()
        self.average = MovingAverage(momentum)

    def forward(self, features):
        average = self.average.update(features.mean(0))
        return (features - average).square().mean() + 0.1 * average.square().mean()


def batch(size, width):
    return torch.randn(size, width, device="cuda")  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    encoder = nn.Linear(256, 24).cuda()
    criterion = MomentLoss()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        rows = batch(128, 256)  # step
        optimizer.zero_grad()
        loss = criterion(encoder(rows))
        # The average of earlier steps is differentiated again in this one.
        loss.backward(retain_graph=True)
        optimizer.step()
        if step % 7 == 6:
            print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
