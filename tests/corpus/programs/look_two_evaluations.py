# SPDX-License-Identifier: Apache-2.0
"""Two evaluations that interleave: a short one every 5 steps, a long one every 15."""

import argparse

import torch
from torch import nn


class Study:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(100, 400), nn.ReLU(), nn.Linear(400, 30)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.best = self.latest = None

    @torch.no_grad()
    def predict(self, batches):
        self.model.eval()
        outputs = torch.cat([self.model(torch.randn(128, 100, device="cuda")) for _ in range(batches)])  # fills
        self.model.train()
        return outputs

    def train_step(self):
        signal = torch.randn(64, 100, device="cuda")
        loss = self.model(signal).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    study = Study()
    for step in range(1, chosen.steps + 1):
        study.train_step()
        if step % 5 == 0:
            study.latest = study.predict(4)
        if step % 15 == 0:
            study.best = study.predict(16)
        if step % 5 == 2:
            study.latest = None


if __name__ == "__main__":
    main()
