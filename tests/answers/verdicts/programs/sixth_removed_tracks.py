# SPDX-License-Identifier: Apache-2.0
"""Tracks objects through a video by the appearance of their crops."""

import argparse
from collections import deque

import torch
from torch import nn


class Track:
    def __init__(self, number, box, crop):
        self.number = number
        self.box = box
        self.age = 0
        self.crops = deque([crop], maxlen=4)

    def update(self, box, crop):
        self.box = box
        self.age = 0
        self.crops.append(crop)

    def appearance(self):
        return torch.stack(list(self.crops)).mean(0)


class Tracker:
    def __init__(self, patience):
        self.patience = patience
        self.tracked = []
        self.lost = []
        self.removed = []
        self.count = 0

    def update(self, boxes, crops):
        followed = self.tracked[: len(boxes) - 1]
        if followed:
            known = torch.stack([track.appearance().flatten() for track in followed])
            torch.cdist(known, crops.flatten(1))
        for track, box, crop in zip(followed, boxes, crops):
            track.update(box, crop.clone())  # allocates
        for track in self.lost:
            track.age += 1
        self.removed += [track for track in self.lost if track.age > self.patience]  # keeps
        self.lost = [track for track in self.lost if track.age <= self.patience]
        self.lost += self.tracked[len(followed):]
        born = Track(self.count, boxes[-1], crops[-1].clone())  # allocates
        self.count += 1
        self.tracked = [born] + followed
        return [(track.number, track.box) for track in self.tracked]


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 128, 3, 2, 1), nn.ReLU())
        self.pool = nn.AdaptiveAvgPool2d(14)

    def forward(self, frame, boxes):
        features = self.layers(frame)
        return torch.cat([self.pool(features[:, :, y // 4:(y + h) // 4, x // 4:(x + w) // 4]) for x, y, w, h in boxes])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    backbone, tracker, written = Backbone().cuda().eval(), Tracker(patience=2), []
    for _ in range(args.steps):
        frame = torch.rand(1, 3, 128, 192, device="cuda")  # step
        boxes = [[int(torch.randint(0, 96, ())), int(torch.randint(0, 48, ())), 64, 64] for _ in range(4)]
        with torch.no_grad():
            written += tracker.update(boxes, backbone(frame, boxes))
    print(len(written), "boxes written")


if __name__ == "__main__":
    main()
