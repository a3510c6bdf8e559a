# SPDX-License-Identifier: Apache-2.0
"""Retrieval with metrics that are computed and reset after each epoch of twelve steps."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=48)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Metric:
    def __init__(self):
        self.reset()

    def reset(self):
        self.preds = []

    def update(self, preds):
        self.preds.append(preds.softmax(-1))  # fills

    def compute(self):
        return torch.cat(self.preds).amax(1).mean().item()


class Experiment:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(96, 128), nn.ReLU(), nn.Linear(128, 800)).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.metrics = {"sure": Metric()}

    def step(self):
        logits = self.model(torch.randn(64, 96, device="cuda"))
        self.optimizer.zero_grad()
        F.cross_entropy(logits, torch.zeros(64, dtype=torch.long, device="cuda")).backward()
        self.optimizer.step()
        for metric in self.metrics.values():
            metric.update(logits.detach())

    def end_epoch(self):
        print({name: metric.compute() for name, metric in self.metrics.items()})
        for metric in self.metrics.values():
            metric.reset()


experiment = Experiment()
for step in range(options.steps):
    experiment.step()  # step
    if step % 12 == 11:
        experiment.end_epoch()
