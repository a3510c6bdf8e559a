# SPDX-License-Identifier: Apache-2.0
"""Self-training for segmentation: a teacher labels crops, the student learns from a queue of the latest of them."""

import argparse
import copy
import random
from collections import deque

import torch
from torch import nn

SIDE = 24


def segmenter(classes=4):
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(16, classes, 1)).cuda()


class PseudoLabels:
    def __init__(self, teacher, rng, most=12):
        self.teacher, self.rng, self.most = teacher, rng, most
        self.pairs = deque()

    @torch.no_grad()
    def label(self, images):
        for image in images:
            top, left = self.rng.randrange(image.shape[1] - SIDE), self.rng.randrange(image.shape[2] - SIDE)
            crop = image[:, top:top + SIDE, left:left + SIDE].clone()  # allocates
            mask = self.teacher(crop[None])[0].argmax(0).to(torch.uint8)  # allocates
            self.pairs.append((crop, mask))  # keeps
        if len(self.pairs) > self.most:
            self.pairs.popleft()

    def draw(self, count):
        drawn = self.rng.sample(list(self.pairs), min(count, len(self.pairs)))
        crops, masks = zip(*drawn)
        return torch.stack(crops), torch.stack(masks).long()


@torch.no_grad()
def follow(teacher, student, rate=0.98):
    for old, new in zip(teacher.parameters(), student.parameters()):
        old.lerp_(new, 1 - rate)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    student = segmenter()
    teacher = copy.deepcopy(student).requires_grad_(False)
    labels = PseudoLabels(teacher, random.Random(chosen.seed))
    optimizer = torch.optim.SGD(student.parameters(), lr=0.02, momentum=0.9)
    for _ in range(chosen.steps):
        labels.label(torch.rand(3, 3, 48, 48, device="cuda"))  # step
        crops, masks = labels.draw(3)
        loss = nn.functional.cross_entropy(student(crops), masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        follow(teacher, student)
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
