# SPDX-License-Identifier: Apache-2.0
"""A metric that lists its scores during an epoch and is reset at the epoch's end."""

import argparse

import torch
from torch import nn


class AveragePrecision:
    def __init__(self):
        self.scores, self.targets = [], []

    def update(self, scores, targets):
        self.scores.append(scores.detach())
        self.targets.append(targets)

    def compute(self):
        scores, targets = torch.cat(self.scores), torch.cat(self.targets)
        order = scores.argsort(0, descending=True)
        ranked = targets.gather(0, order).cumsum(0)
        return (ranked / torch.arange(1, len(ranked) + 1, device="cuda")[:, None]).mean().item()

    def reset(self):
        self.scores.clear()
        self.targets.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 80)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    metric, batches = AveragePrecision(), 7
    for step in range(chosen.steps):
        features = torch.randn(128, 128, device="cuda")
        targets = (torch.rand(128, 80, device="cuda") > 0.9).float()  # fills
        scores = model(features)
        loss = nn.functional.binary_cross_entropy_with_logits(scores, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metric.update(scores.sigmoid(), targets)  # fills
        if (step + 1) % batches == 0:
            print(f"epoch {(step + 1) // batches}: {metric.compute():.3f}")
            metric.reset()


if __name__ == "__main__":
    main()
