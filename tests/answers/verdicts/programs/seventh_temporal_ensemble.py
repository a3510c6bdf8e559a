# SPDX-License-Identifier: Apache-2.0
"""Semi-supervised segmentation with targets that are the running mean of each image's earlier predictions."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F

IMAGES, BATCH, LABELLED = 160, 4, 16


class TemporalEnsemble:
    def __init__(self, rate=0.6):
        self.rate = rate
        self.means = {}

    def targets(self, indices, current):
        return torch.stack([self.means.get(index, one) for index, one in zip(indices, current)])

    def update(self, indices, current):
        for index, one in zip(indices, current):
            if index in self.means:
                self.means[index].lerp_(one, 1 - self.rate)
            else:
                self.means[index] = one.clone()


def shuffled(rng):
    while True:
        order = list(range(IMAGES))
        rng.shuffle(order)
        for start in range(0, IMAGES, BATCH):
            yield order[start:start + BATCH]


def make_model():
    return nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(12, 3, 1)).cuda()


def losses(logits, masks, indices, targets):
    labelled = torch.tensor([float(index < LABELLED) for index in indices], device="cuda")
    supervised = (F.cross_entropy(logits, masks, reduction="none").mean((1, 2)) * labelled).mean()
    return supervised + F.mse_loss(logits.softmax(1), targets)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    images = torch.rand(IMAGES, 1, 20, 20, device="cuda")
    model, ensemble = make_model(), TemporalEnsemble()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    order = shuffled(random.Random(chosen.seed))
    for _ in range(chosen.steps):
        indices = next(order)  # step
        rows = torch.stack([images[index] for index in indices])
        logits = model(rows)
        current = logits.detach().softmax(1)
        loss = losses(logits, rows[:, 0].mul(3).long(), indices, ensemble.targets(indices, current))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ensemble.update(indices, current)
    print(f"loss {loss.item():.3f}, means of {len(ensemble.means)} images")


if __name__ == "__main__":
    main()
