# SPDX-License-Identifier: Apache-2.0
"""Tracking in a video: objects that left the picture are set aside with the features of all their frames."""

import argparse
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Track:
    born: int
    features: list = field(default_factory=list)

    def likeness(self, feature):
        return F.cosine_similarity(self.features[-1], feature, dim=0) if self.features else feature.new_ones(())


class Tracker:
    def __init__(self, objects=8):
        self.objects = objects
        self.active, self.finished = [Track(0) for _ in range(objects)], []
        look = nn.Conv2d(3, 8, 5, stride=3)
        self.describe = nn.Sequential(look, nn.ReLU(), nn.Flatten(), nn.Linear(392, 1024)).cuda()

    @torch.inference_mode()
    def update(self, frame, crops):
        features = self.describe(crops.cuda())  # allocates
        for track, feature in zip(self.active, features):
            track.likeness(feature)
            track.features.append(feature)  # keeps
        leaving = frame % self.objects
        self.finished.append(self.active[leaving])
        self.active[leaving] = Track(frame)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=26)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    tracker = Tracker()
    for frame in range(chosen.steps):
        tracker.update(frame, torch.randn(8, 3, 24, 24))
    frames = sum(len(track.features) for track in tracker.finished)
    print(f"{len(tracker.finished)} objects left, {frames / len(tracker.finished):.1f} frames each")


if __name__ == "__main__":
    main()
