# SPDX-License-Identifier: Apache-2.0
"""Features of a frozen backbone are shared by two heads through a cache of weak references."""

import argparse
import weakref

import torch
from torch import nn
from torch.nn import functional as F

class Features:
    def __init__(self, tensor):
        self.tensor = tensor


class Backbone:
    """Whoever asks for a batch's features while someone has them gets the same ones."""

    def __init__(self):
        self.model = nn.Sequential(nn.Conv2d(3, 32, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4)).cuda()
        self.known = weakref.WeakValueDictionary()
        self.computed = 0

    @torch.no_grad()
    def features(self, number, pictures):
        found = self.known.get(number)
        if found is None:
            found = self.known[number] = Features(self.model(pictures).flatten(1))
            self.computed += 1
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    backbone = Backbone()
    heads = [nn.Linear(512, size).cuda() for size in (10, 4)]
    optimizers = [torch.optim.Adam(head.parameters()) for head in heads]
    before = None
    for step in range(chosen.steps):
        pictures = torch.rand(24, 3, 32, 32).cuda()
        for head, optimizer in zip(heads, optimizers):
            features = backbone.features(step, pictures)
            loss = head(features.tensor).square().mean()
            if before is not None:
                loss = loss + F.mse_loss(head(features.tensor), head(before.tensor))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        before = features
    print(f"{backbone.computed} batches computed, {len(backbone.known)} known")


if __name__ == "__main__":
    main()
