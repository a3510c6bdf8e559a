# SPDX-License-Identifier: Apache-2.0
"""Features of a data set are taken from a frozen backbone; then a linear probe learns from them."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=24)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
DATA = 12  # batches


class Probe:
    def __init__(self):
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 8, stride=8), nn.ReLU(), nn.Flatten()).cuda().eval()
        self.head, self.features = nn.Linear(1024, 10).cuda(), []
        self.optimizer = torch.optim.LBFGS(self.head.parameters(), max_iter=1, history_size=2)

    @torch.no_grad()
    def collect(self):
        self.features.append(self.backbone(torch.randn(64, 3, 64, 64).cuda()))

    def fit(self):
        if isinstance(self.features, list):
            self.features = torch.cat(self.features)
        labels = torch.zeros(len(self.features), dtype=torch.long, device="cuda")

        def closure():
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.head(self.features), labels)
            loss.backward()
            return loss

        self.optimizer.step(closure)


probe = Probe()
for step in range(options.steps):
    collecting = step < DATA  # step
    probe.collect() if collecting else probe.fit()
