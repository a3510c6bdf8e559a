# SPDX-License-Identifier: Apache-2.0
"""Separates two voices; the score is of all evaluations since the last reset."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Metric:
    """In the manner of torchmetrics: update(), compute(), reset()."""

    def reset(self):
        raise NotImplementedError

    def __call__(self, *arguments):
        self.update(*arguments)
        return self.compute()


class ScaleInvariantRatio(Metric):
    def __init__(self):
        self.reset()

    def reset(self):
        self.estimates, self.targets = [], []

    def update(self, estimate, target):
        self.estimates.append(estimate)  # keeps
        self.targets.append(target)  # keeps

    def compute(self):
        ratios = []
        for estimate, target in zip(self.estimates, self.targets):
            scaled = (estimate * target).sum(-1, keepdim=True) / target.pow(2).sum(-1, keepdim=True) * target
            ratios.append(10 * torch.log10(scaled.pow(2).sum(-1) / (scaled - estimate).pow(2).sum(-1)).mean())
        return torch.stack(ratios).mean()


class Separator(nn.Module):
    def __init__(self, width=64, window=16):
        super().__init__()
        self.window = window
        self.encode, self.decode = nn.Linear(window, width), nn.Linear(width, 2 * window)

    def forward(self, mixture):
        frames = mixture.unflatten(1, (-1, self.window))
        voices = self.decode(F.relu(self.encode(frames)))
        return voices.unflatten(-1, (2, self.window)).transpose(1, 2).flatten(2)  # allocates


def spoken():
    return torch.randn(8, 2, 4000).cuda()  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model, metric = Separator().cuda(), ScaleInvariantRatio()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        voices = spoken()  # step
        loss = F.l1_loss(model(voices.sum(1)), voices)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 3 == 2:
            with torch.no_grad():
                held_out = spoken()
                metric.update(model(held_out.sum(1)), held_out)
            print(step, float(metric.compute()))


if __name__ == "__main__":
    main()
