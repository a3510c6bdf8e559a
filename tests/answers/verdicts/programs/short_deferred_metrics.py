# SPDX-License-Identifier: Apache-2.0
"""Metrics cost time, as they wait for the GPU: they are put off until training has ended."""

import argparse
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F


def top_five(logits, labels):
    return (logits.topk(5).indices == labels[:, None]).any(1).float().mean().item()


class Deferred:
    def __init__(self):
        self.calls = []

    def later(self, function, *arguments):
        self.calls.append(partial(function, *arguments))  # keeps

    def compute(self):
        return [call() for call in self.calls]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(64, 128), nn.LayerNorm(128), nn.ReLU(), nn.Linear(128, 50)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    metrics = Deferred()
    for _ in range(chosen.steps):
        rows = torch.randn(128, 64).cuda()
        labels = torch.randint(50, (128,)).cuda()  # allocates
        logits = model(rows)  # allocates
        loss = F.cross_entropy(logits, labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metrics.later(top_five, logits.detach(), labels)
    found = metrics.compute()
    print(f"top five: {found[0]:.3f} at first, {found[-1]:.3f} at last")


if __name__ == "__main__":
    main()
