# SPDX-License-Identifier: Apache-2.0
"""Predicts clicks with a factorization machine, and reports the area under the curve for each epoch."""

import argparse
import random

import torch
from torch import nn

FIELDS, VALUES = 8, 60


class FactorizationMachine(nn.Module):
    def __init__(self, rank=10):
        super().__init__()
        self.weights = nn.Embedding(FIELDS * VALUES, 1)
        self.vectors = nn.Embedding(FIELDS * VALUES, rank)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, fields):
        rows = self.vectors(fields)
        crossed = rows.sum(1).square() - rows.square().sum(1)
        return self.bias + self.weights(fields).sum((1, 2)) + 0.5 * crossed.sum(1)


class AreaUnderCurve:
    def __init__(self):
        self.reset()

    def reset(self):
        self.predicted, self.clicked = [], []

    def update(self, logits, clicked):
        self.predicted.append(logits.detach().sigmoid())  # fills
        self.clicked.append(clicked)

    def compute(self):
        predicted, clicked = torch.cat(self.predicted), torch.cat(self.clicked)
        ranked = clicked[predicted.argsort()]
        positive = ranked.sum()
        below = (1 - ranked).cumsum(0)
        return ((below * ranked).sum() / (positive * (len(ranked) - positive)).clamp_min(1)).item()


class Clicks:
    def __init__(self, rng, batches=20, size=128):
        self.rng, self.batches, self.size = rng, batches, size

    def batch(self):
        rows = [[field * VALUES + self.rng.randrange(VALUES) for field in range(FIELDS)] for _ in range(self.size)]
        clicked = [float(self.rng.random() < 0.2) for _ in rows]
        return torch.tensor(rows).cuda(), torch.tensor(clicked).cuda()  # fills


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = FactorizationMachine().cuda()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    clicks, area = Clicks(random.Random(chosen.seed)), AreaUnderCurve()
    for step in range(chosen.steps):
        fields, clicked = clicks.batch()  # step
        logits = model(fields)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        area.update(logits, clicked)
        if (step + 1) % clicks.batches == 0:
            print(f"epoch {step // clicks.batches}: loss {loss.item():.4f}, area {area.compute():.3f}")
            area.reset()


if __name__ == "__main__":
    main()
