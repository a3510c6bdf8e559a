# SPDX-License-Identifier: Apache-2.0
"""Trains a detector on mosaics of four images, three of which come from a cache of images seen before."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class CachedMosaic:
    def __init__(self, max_cached_images=40):
        self.max_cached_images = max_cached_images
        self.cache = []

    def __call__(self, image, box):
        self.cache.append((image, box))
        if len(self.cache) > self.max_cached_images:
            self.cache.pop(random.randrange(len(self.cache) - 1))
        others = random.choices(self.cache, k=3)
        size = image.shape[-1]
        mosaic = torch.empty(3, 2 * size, 2 * size, device=image.device)
        boxes = []
        for place, (one, its_box) in enumerate([(image, box)] + others):
            top, left = place // 2 * size, place % 2 * size
            mosaic[:, top:top + size, left:left + size] = one
            boxes.append((its_box + torch.tensor([left, top, left, top])) / (2 * size))
        return mosaic, torch.stack(boxes)


class Detector(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.SiLU(),
                         nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 16), nn.Unflatten(1, (4, 4)))


def annotated_image(size=80):
    corner = torch.randint(0, size // 2, (2,))
    return torch.rand(3, size, size), torch.cat([corner, corner + size // 2]).float()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    mosaic, model = CachedMosaic(), Detector().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(args.steps):
        annotated = [annotated_image() for _ in range(args.batch)]  # step
        images, boxes = zip(*[mosaic(image.cuda(), box) for image, box in annotated])
        loss = F.smooth_l1_loss(model(torch.stack(images)), torch.stack(boxes).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
