# SPDX-License-Identifier: Apache-2.0
"""Enlarges images with a trained network and scores each batch by structural similarity."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Metric(nn.Module):
    """Called with a batch it takes note of the batch, and returns the value of that batch alone."""

    def __init__(self):
        super().__init__()
        self.predictions, self.targets = [], []

    def update(self, prediction, target):
        self.predictions.append(prediction)  # keeps
        self.targets.append(target)  # keeps

    def compute(self):
        return self.value(torch.cat(self.predictions), torch.cat(self.targets))

    def reset(self):
        self.predictions, self.targets = [], []

    def forward(self, prediction, target):
        self.update(prediction, target)
        return self.value(prediction, target)


class StructuralSimilarity(Metric):
    def __init__(self, window=7, c1=0.01 ** 2, c2=0.03 ** 2):
        super().__init__()
        self.window, self.c1, self.c2 = window, c1, c2

    def smooth(self, image):
        return F.avg_pool2d(image, self.window, stride=1)

    def value(self, prediction, target):
        mean_p, mean_t = self.smooth(prediction), self.smooth(target)
        spread_p = self.smooth(prediction * prediction) - mean_p * mean_p
        spread_t = self.smooth(target * target) - mean_t * mean_t
        both = self.smooth(prediction * target) - mean_p * mean_t
        above = (2 * mean_p * mean_t + self.c1) * (2 * both + self.c2)
        below = (mean_p ** 2 + mean_t ** 2 + self.c1) * (spread_p + spread_t + self.c2)
        return (above / below).mean()


class Enlarge(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.last = nn.Conv2d(width, 12, 3, padding=1)

    def forward(self, small):
        return F.pixel_shuffle(self.last(F.relu(self.first(small))), 2)  # allocates


def images(batches, size=64):
    for _ in range(batches):
        yield torch.rand(4, 3, size, size, device="cuda")  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    network, similarity = Enlarge().cuda().eval(), StructuralSimilarity().cuda()
    total = 0.0
    with torch.no_grad():
        for large in images(chosen.steps):
            small = F.avg_pool2d(large, 2)  # step
            total += similarity(network(small), large).item()
    print(f"similarity {total / chosen.steps:.4f}")


if __name__ == "__main__":
    main()
