# SPDX-License-Identifier: Apache-2.0
"""Segments land cover in tiles of aerial images; after each epoch it logs the intersection over union of each class."""

import argparse

import torch
from torch import nn

CLASSES = 6


class ClasswiseIoU:
    """Intersections and unions of each image and class."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.intersections, self.unions = [], []

    @torch.no_grad()
    def update(self, logits, target):
        classes = torch.arange(CLASSES, device=logits.device).view(1, -1, 1, 1)
        predicted, true = logits.argmax(1, keepdim=True) == classes, target[:, None] == classes
        both = (predicted & true).sum((2, 3)).float()  # allocates
        either = (predicted | true).sum((2, 3)).float()  # allocates
        self.intersections.append(both)  # keeps
        self.unions.append(either)  # keeps

    def compute(self):
        intersections, unions = torch.cat(self.intersections), torch.cat(self.unions)
        return intersections.sum(0) / unions.sum(0).clamp(min=1)


class Segmentation:
    def __init__(self):
        self.model = nn.Sequential(nn.Conv2d(4, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, CLASSES, 1)).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.criterion = nn.CrossEntropyLoss()
        self.iou_classwise_metric = ClasswiseIoU()

    def tiles(self):
        return torch.randn(32, 4, 16, 16, device="cuda"), torch.randint(0, CLASSES, (32, 16, 16), device="cuda")

    def training_step(self):
        images, masks = self.tiles()
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(images), masks)
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def validation_step(self):
        images, masks = self.tiles()
        self.iou_classwise_metric.update(self.model(images), masks)

    def on_validation_epoch_end(self):
        return self.iou_classwise_metric.compute().tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    segmentation = Segmentation()
    for epoch in range(chosen.steps):
        segmentation.model.train()  # step
        for _ in range(2):
            segmentation.training_step()
        segmentation.model.eval()
        for _ in range(3):
            segmentation.validation_step()
        scores = segmentation.on_validation_epoch_end()
        print(f"epoch {epoch}:", " ".join(f"{score:.2f}" for score in scores))


if __name__ == "__main__":
    main()
