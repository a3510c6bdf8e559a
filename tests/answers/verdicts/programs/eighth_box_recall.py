# SPDX-License-Identifier: Apache-2.0
"""Compares checkpoints of a one-stage detector by the recall of their boxes on the same validation pictures."""

import argparse

import torch
from torch import nn

PICTURES = 60
BATCH = 4
KEPT = 20  # boxes of a picture
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)


class Detector(nn.Module):
    """On every cell of a 16 x 16 grid: one box, its objectness, and scores of eight classes."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU())
        self.head = nn.Conv2d(16, 4 + 1 + 8, 1)

    def forward(self, pictures):
        cells = self.head(self.body(pictures)).flatten(2).transpose(1, 2)
        corner, size = cells[..., :2].sigmoid(), cells[..., 2:4].exp()
        return torch.cat([corner, corner + size], -1), cells[..., 4].sigmoid(), cells[..., 5:].softmax(-1)


def overlaps(left, right):
    """Intersection over union of each box with each."""
    low = torch.maximum(left[..., :, None, :2], right[..., None, :, :2])
    high = torch.minimum(left[..., :, None, 2:], right[..., None, :, 2:])
    shared = (high - low).clamp(min=0).prod(-1)
    area_left = (left[..., 2:] - left[..., :2]).prod(-1)[..., :, None]
    area_right = (right[..., 2:] - right[..., :2]).prod(-1)[..., None, :]
    return shared / (area_left + area_right - shared).clamp(min=1e-6)


class RecallMetric:
    def __init__(self):
        self.best = []
        self.classes = []

    def add(self, boxes, objectness, classes, truths):
        order = objectness.topk(KEPT).indices[..., None]
        chosen = boxes.gather(1, order.expand(-1, -1, 4))
        self.best.append(overlaps(truths, chosen))  # fills
        self.classes.append(classes.gather(1, order.expand(-1, -1, 8)))  # fills

    def compute(self):
        best = torch.cat(self.best).amax(-1)
        recalls = [best.ge(threshold).float().mean().item() for threshold in THRESHOLDS]
        confidence = torch.cat(self.classes).amax(-1).mean().item()
        self.best.clear()
        self.classes.clear()
        return sum(recalls) / len(recalls), confidence


def perturb(model, chance):
    """Stands for the next checkpoint."""
    for parameter in model.parameters():
        parameter.add_(0.01 * torch.randn(parameter.shape, generator=chance).to(parameter.device))


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = torch.Generator().manual_seed(chosen.seed)

    model, metric = Detector().cuda().eval(), RecallMetric()
    pictures = torch.rand(PICTURES, 3, 32, 32)
    truths = torch.rand(PICTURES, 6, 4).cumsum(-1) / 4
    batches = PICTURES // BATCH
    for step in range(chosen.steps):
        start = step % batches * BATCH  # step
        boxes, objectness, classes = model(pictures[start:start + BATCH].cuda())
        metric.add(boxes, objectness, classes, truths[start:start + BATCH].cuda())
        if start + BATCH == PICTURES:
            recall, confidence = metric.compute()
            print(f"checkpoint {step // batches}: mean recall {recall:.3f}, confidence {confidence:.3f}")
            perturb(model, chance)


if __name__ == "__main__":
    main()
