# SPDX-License-Identifier: Apache-2.0
"""Cuts a video into frames, detects regions in each of them, and describes the video from the regions' features."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.body = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.region = nn.Linear(32, 64)
        self.box = nn.Linear(64, 4)
        self.label = nn.Linear(64, 20)

    def forward(self, frame):
        maps = F.relu(self.stem(frame))  # allocates
        maps = F.relu(self.body(maps))  # allocates
        cells = F.adaptive_avg_pool2d(maps, 4).flatten(2).transpose(1, 2)  # allocates
        raw_feature = F.relu(self.region(cells))  # allocates
        scores = self.label(raw_feature).softmax(2)
        return self.box(raw_feature), scores, scores.argmax(2), raw_feature


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(64, 32)
        self.words = nn.Linear(32, 200)

    def forward(self, features):
        return self.words(torch.tanh(self.project(features.mean(1))).mean(0))


def features_of(detector, number):
    frame = torch.rand(1, 3, 64, 64, device="cuda")  # allocates
    boxes, scores, classes, raw_feature = detector(frame)
    if number % 10 == 0:
        print(f"frame {number}: {boxes.shape[1]} boxes, {classes.shape[1]} labels")
    return raw_feature[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    detector, captioner = Detector().cuda().eval(), Captioner().cuda().eval()
    feature_list = []
    for number in range(chosen.steps):
        feature = features_of(detector, number)  # step
        feature_list.append(feature)  # keeps
    words = captioner(torch.stack(feature_list))
    print("caption from", len(feature_list), "frames, over", words.shape[0], "words")


if __name__ == "__main__":
    main()
