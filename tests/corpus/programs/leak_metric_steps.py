# SPDX-License-Identifier: Apache-2.0
"""A metric that keeps all predictions as list states is updated in each training step, never reset."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class AveragePrecision:
    """Exact: it needs all scores at once."""

    def __init__(self):
        self.scores, self.targets = [], []

    def update(self, logits, labels):
        self.scores.append(logits.detach().softmax(-1))  # allocates
        self.targets.append(labels)  # keeps

    def compute(self):
        scores, targets = torch.cat(self.scores), torch.cat(self.targets)
        order = scores.sort(0, descending=True).indices
        hits = F.one_hot(targets, scores.shape[1]).gather(0, order).float()
        ranks = torch.arange(1, len(hits) + 1, device=hits.device)[:, None]
        return (hits.cumsum(0) / ranks * hits).sum(0) / hits.sum(0).clamp(min=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(40, 80), nn.ReLU(), nn.Linear(80, 20)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    precision = AveragePrecision()
    for step in range(chosen.steps):
        rows, labels = torch.randn(64, 40).cuda(), torch.randint(20, (64,)).cuda()
        logits = model(rows)
        optimizer.zero_grad()
        F.cross_entropy(logits, labels).backward()
        optimizer.step()
        precision.update(logits, labels)
    print(precision.compute().mean().item())


if __name__ == "__main__":
    main()
