# SPDX-License-Identifier: Apache-2.0
"""Collects the errors of ten batches on the GPU, then looks at them together and starts afresh."""

import argparse

import torch
from torch import nn


class Detector:
    def __init__(self, model, every=10):
        self.model, self.every, self.pending, self.thresholds = model, every, [], []

    def add(self, errors):
        self.pending.append(errors)
        if len(self.pending) == self.every:
            together = torch.cat(self.pending)
            self.thresholds.append(torch.quantile(together.mean(1), 0.95).item())
            self.pending.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(400, 64), nn.ReLU(), nn.Linear(64, 400)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    detector = Detector(model)
    for step in range(chosen.steps):
        signal = torch.randn(256, 400, device="cuda")
        rebuilt = model(signal)
        errors = (rebuilt - signal).square()  # fills
        optimizer.zero_grad()
        errors.mean().backward()
        optimizer.step()
        detector.add(errors.detach())


if __name__ == "__main__":
    main()
