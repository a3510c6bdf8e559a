# SPDX-License-Identifier: Apache-2.0
"""Trains a one-stage detector whose anchors are laid over each image's own grid."""

import argparse
import itertools
import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Batch:
    images: torch.Tensor
    ids: list


class AnchorGrid:
    """Boxes of a few sizes around each cell of a feature map."""

    def __init__(self, sizes, stride):
        self.sizes, self.stride = sizes, stride
        self.grids = {}

    def lay(self, height, width, device):
        ys = (torch.arange(height, device=device) + 0.5) * self.stride
        xs = (torch.arange(width, device=device) + 0.5) * self.stride
        centres = torch.stack(torch.meshgrid(xs, ys, indexing="xy"), -1).reshape(-1, 1, 2)
        sizes = torch.tensor(self.sizes, device=device).reshape(1, -1, 1)
        corners = [centres - sizes / 2, centres + sizes / 2]
        return torch.cat(corners, -1).reshape(-1, 4)  # allocates

    def __call__(self, features, image_id):
        height, width = features.shape[-2:]
        key = (image_id, height, width)
        if key not in self.grids:
            self.grids[key] = self.lay(height, width, features.device)  # keeps
        return self.grids[key]


class Detector(nn.Module):
    def __init__(self, sizes=(8.0, 16.0, 32.0)):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 24, 3, 2, 1), nn.ReLU())
        self.head = nn.Conv2d(24, 5 * len(sizes), 1)
        self.anchors = AnchorGrid(sizes, stride=4)

    def forward(self, batch):
        features = self.trunk(batch.images)
        raw = self.head(features).permute(0, 2, 3, 1).reshape(len(batch.ids), -1, 5)
        boxes = [self.anchors(features, image_id) + moves for image_id, moves in zip(batch.ids, raw[..., :4])]
        return boxes, raw[..., 4]


def stream(size, rng):
    ids = itertools.count(rng.randrange(1000))
    while True:
        yield Batch(torch.rand(size, 3, 64, 64, device="cuda"), [next(ids) for _ in range(size)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    detector = Detector().cuda()
    optimizer = torch.optim.SGD(detector.parameters(), lr=0.01, momentum=0.9)
    target = torch.tensor([12.0, 12.0, 40.0, 40.0], device="cuda")
    for batch in itertools.islice(stream(4, random.Random(chosen.seed)), chosen.steps):
        optimizer.zero_grad()  # step
        boxes, scores = detector(batch)
        loss = sum(F.smooth_l1_loss(each, target.expand_as(each)) for each in boxes) / len(boxes)
        loss = loss + F.binary_cross_entropy_with_logits(scores, torch.zeros_like(scores))
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
