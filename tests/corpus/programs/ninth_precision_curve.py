# SPDX-License-Identifier: Apache-2.0
"""Tags pictures with sixteen labels and reports the average precision of every batch by a metric object that is
updated with it."""

import argparse

import torch
from torch import nn


class Metric(nn.Module):
    """States are attributes that were named with a default; reset() puts the defaults back."""

    def __init__(self):
        super().__init__()
        self.defaults = {}

    def add_state(self, name, default):
        self.defaults[name] = default
        setattr(self, name, list(default))

    def reset(self):
        for name, default in self.defaults.items():
            setattr(self, name, list(default))

    def forward(self, preds, target):
        """Takes the batch into the states, and says what its own value is."""
        self.update(preds, target)
        return self.value(preds, target)


class AveragePrecision(Metric):
    def __init__(self, num_labels):
        super().__init__()
        self.num_labels = num_labels
        self.add_state("preds", [])
        self.add_state("target", [])

    def update(self, preds, target):
        self.preds.append(preds.reshape(-1, self.num_labels))  # keeps
        self.target.append(target.reshape(-1, self.num_labels))  # keeps

    def value(self, preds, target):
        order = preds.argsort(0, descending=True)
        hits = target.gather(0, order).float()
        found = hits.cumsum(0)
        precision = found / torch.arange(1, len(preds) + 1, device=preds.device)[:, None]
        return ((precision * hits).sum(0) / hits.sum(0).clamp(min=1)).mean()

    def compute(self):
        return self.value(torch.cat(self.preds), torch.cat(self.target))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    labels = 16
    tagger = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, labels)).cuda()
    metric = AveragePrecision(labels).to("cuda")
    for step in range(chosen.steps):
        pictures = torch.randn(256, 64, device="cuda")  # step
        target = torch.randint(0, 2, (256, labels), device="cuda")  # allocates
        with torch.no_grad():
            pred = torch.sigmoid(tagger(pictures))  # allocates
        of_batch = metric(pred, target)
        if (step + 1) % 10 == 0:
            print(f"batch {step + 1}: average precision {of_batch.item():.3f}")
    print(f"of all {metric.compute().item():.3f}")


if __name__ == "__main__":
    main()
