# SPDX-License-Identifier: Apache-2.0
"""Evaluates a classifier by segments of the data: by the images' area and by their aspect ratio."""

import argparse
import random
from collections import defaultdict

import torch
from torch import nn

BATCH = 16
PROPERTIES = {"area": lambda size: size[0] * size[1], "aspect ratio": lambda size: round(size[0] / size[1], 1)}


class SegmentPerformance:
    """Collects samples by batch, and sorts them into segments once all have been seen."""

    def __init__(self, model):
        self.model = model
        self.cached = defaultdict(list)

    def update(self, images, labels, sizes):
        predictions = self.model(images).softmax(1)  # allocates
        for index, size in enumerate(sizes):
            sample = {"prediction": predictions[index], "label": labels[index]}
            for name, of in PROPERTIES.items():
                self.cached[name].append((of(size), sample))  # keeps

    def compute(self, bins=4):
        report = {}
        for name, samples in self.cached.items():
            samples = sorted(samples, key=lambda one: one[0])
            width = max(1, len(samples) // bins)
            report[name] = [self.score(samples[start:start + width]) for start in range(0, width * bins, width)]
        return report

    def score(self, samples):
        right = [(one["prediction"].argmax() == one["label"]).item() for _, one in samples]
        return sum(right) / max(1, len(right))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = random.Random(chosen.seed)
    model = nn.Sequential(nn.Linear(192, 96), nn.ReLU(), nn.Linear(96, 10)).cuda().eval()
    check = SegmentPerformance(model)
    for _ in range(chosen.steps):
        sizes = [(chance.randint(20, 60), chance.randint(20, 60)) for _ in range(BATCH)]  # step
        images = torch.rand(BATCH, 192).to("cuda")  # allocates
        labels = torch.tensor([chance.randrange(10) for _ in range(BATCH)]).to("cuda")  # allocates
        check.update(images, labels, sizes)
    for name, scores in check.compute().items():
        print(name, [f"{score:.2f}" for score in scores])


if __name__ == "__main__":
    main()
