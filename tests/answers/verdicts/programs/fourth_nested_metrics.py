# SPDX-License-Identifier: Apache-2.0
"""Image retrieval with collections of metrics for training and validation, computed after each epoch."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=48)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class CatMetric:
    def __init__(self):
        self.reset()

    def reset(self):
        self.preds, self.targets = [], []

    def update(self, preds, targets):
        self.preds.append(preds.softmax(-1))  # allocates
        self.targets.append(targets)


class TopFive(CatMetric):
    def compute(self):
        return torch.cat(self.preds[-12:]).topk(5).indices.float().mean().item()


class Entropy(CatMetric):
    def compute(self):
        preds = torch.cat(self.preds[-12:])
        return -(preds * preds.clamp_min(1e-9).log()).sum(-1).mean().item()


class Collection(dict):
    def update_all(self, preds, targets):
        for metric in self.values():
            metric.update(preds, targets)

    def compute_all(self):
        return {name: metric.compute() for name, metric in self.items()}


class Experiment:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(96, 128), nn.ReLU(), nn.Linear(128, 200)).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.metrics = {"train": Collection(top=TopFive()), "val": Collection(top=TopFive(), entropy=Entropy())}

    def step(self):
        x, y = torch.randn(64, 96, device="cuda"), torch.randint(0, 200, (64,)).cuda()
        logits = self.model(x)
        self.optimizer.zero_grad()
        F.cross_entropy(logits, y).backward()
        self.optimizer.step()
        self.metrics["train"].update_all(logits.detach(), y)


experiment = Experiment()
for step in range(options.steps):
    experiment.step()  # step
    if step % 12 == 11:
        print(experiment.metrics["train"].compute_all())
