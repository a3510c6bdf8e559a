# SPDX-License-Identifier: Apache-2.0
"""Chooses what to annotate of a microscope's images: features of the whole pool, from which a core set is picked."""

import argparse

import torch
from torch import nn


class Features(nn.Module):
    def __init__(self, size=256):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU())
        self.head = nn.Linear(32 * 16, size)

    def forward(self, images):
        return self.head(nn.functional.adaptive_avg_pool2d(self.body(images), 4).flatten(1))  # fills


class CoreSet:
    def __init__(self, budget):
        self.budget = budget
        self.features = []
        self.chosen = []

    def see(self, features):
        self.features.append(features)

    def pick(self):
        """Farthest first."""
        features = torch.cat(self.features)
        centre = features.mean(0, keepdim=True)
        distance = torch.cdist(features, centre).flatten()
        picked = []
        for _ in range(self.budget):
            farthest = int(distance.cpu().argmax())
            picked.append(farthest)
            distance = torch.minimum(distance, torch.cdist(features, features[farthest:farthest + 1]).flatten())
        self.chosen += picked
        self.features = []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--pool", type=int, default=700)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    pool = torch.rand(args.pool, 1, 48, 48)
    model, core_set, place = Features().cuda().eval(), CoreSet(budget=5), 0
    for _ in range(args.steps):
        images = pool[place:place + args.batch].cuda()  # step
        with torch.no_grad():
            core_set.see(model(images))
        place += args.batch
        if place >= len(pool):
            core_set.pick()
            print(len(core_set.chosen), "images to annotate")
            place = 0


if __name__ == "__main__":
    main()
