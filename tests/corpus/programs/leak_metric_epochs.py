# SPDX-License-Identifier: Apache-2.0
"""A metric is updated in each evaluation and computed after it, but never reset."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Metric:
    """States are attributes that reset() gives their defaults again."""

    def __init__(self):
        self.defaults = {}

    def add_state(self, name):
        self.defaults[name] = []
        setattr(self, name, [])

    def reset(self):
        for name, default in self.defaults.items():
            setattr(self, name, list(default))


class Spearman(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("predictions")
        self.add_state("targets")

    def update(self, predictions, targets):
        self.predictions.append(predictions.float())  # keeps
        self.targets.append(targets.float())

    def compute(self):
        one, other = torch.cat(self.predictions).argsort(0), torch.cat(self.targets).argsort(0)
        return F.cosine_similarity(one.float(), other.float(), 0).mean()


@torch.no_grad()
def evaluate(model, metric, batches=10):
    for _ in range(batches):
        rows = torch.randn(128, 32, device="cuda")
        metric.update(model(rows), rows.cumsum(1))  # allocates
    return metric.compute().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Linear(32, 32).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    spearman = Spearman()
    for step in range(1, chosen.steps + 1):
        rows = torch.randn(128, 32, device="cuda")
        optimizer.zero_grad()
        F.mse_loss(model(rows), rows.cumsum(1)).backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"step {step}: {evaluate(model, spearman):.4f}")


if __name__ == "__main__":
    main()
