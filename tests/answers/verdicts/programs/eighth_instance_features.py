# SPDX-License-Identifier: Apache-2.0
"""Instance discrimination: every picture is a class of its own, which is known by the running mean of its features."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional

PICTURES = 640
BATCH = 16
NEGATIVES = 48


class Backbone(nn.Module):
    def __init__(self, features=128):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(3, 12, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.project = nn.Linear(96, features)

    def forward(self, pictures):
        return functional.normalize(self.project(self.convolutions(pictures)), dim=-1)


class Features:
    def __init__(self, momentum=0.5):
        self.of = {}
        self.momentum = momentum

    @torch.no_grad()
    def update(self, indices, features):
        for index, feature in zip(indices, features):
            if index in self.of:
                mixed = self.momentum * self.of[index] + (1 - self.momentum) * feature
                self.of[index] = functional.normalize(mixed, dim=0)
            else:
                self.of[index] = feature.clone()

    def negatives(self, without, chance):
        others = [index for index in self.of if index not in without]
        return torch.stack([self.of[index] for index in chance.sample(others, min(NEGATIVES, len(others)))])

    def positives(self, indices, features):
        own = [self.of.get(index, feature.detach()) for index, feature in zip(indices, features)]
        return torch.stack(own)


def discriminate(features, positives, negatives, temperature=0.07):
    right = (features * positives).sum(1, keepdim=True)
    scores = torch.cat([right, features @ negatives.T], 1) / temperature
    return functional.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long, device="cuda"))


def train_step(model, optimizer, bank, indices, chance):
    pictures = torch.rand(len(indices), 3, 16, 16, device="cuda")
    features = model(pictures)
    loss = None
    if bank.of:
        loss = discriminate(features, bank.positives(indices, features), bank.negatives(set(indices), chance))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    bank.update(indices, features.detach())
    return 0.0 if loss is None else loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = random.Random(chosen.seed)

    model, bank = Backbone().cuda(), Features()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    order = []
    for step in range(chosen.steps):
        order = order or chance.sample(range(PICTURES), PICTURES)  # step
        indices, order = order[:BATCH], order[BATCH:]
        loss = train_step(model, optimizer, bank, indices, chance)
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss:.3f}, {len(bank.of)} pictures known")


if __name__ == "__main__":
    main()
