# SPDX-License-Identifier: Apache-2.0
"""Evaluates instance segmentation after each epoch of fine-tuning: masks of all images, then the mean precision."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class MeanPrecision:
    def __init__(self):
        self.reset()

    def reset(self):
        self.masks, self.truths = [], []

    @torch.no_grad()
    def update(self, logits, truth):
        self.masks.append(logits.sigmoid())  # fills
        self.truths.append(truth)

    def compute(self, thresholds=(0.5, 0.75)):
        masks, truths = torch.cat(self.masks), torch.cat(self.truths)
        precisions = []
        for threshold in thresholds:
            found = (masks > threshold).float()
            precisions.append((found * truths).sum() / found.sum().clamp(min=1))
        return torch.stack(precisions).mean().item()


class Head(nn.Module):
    def __init__(self, instances=6):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())
        self.masks = nn.ConvTranspose2d(16, instances, 2, 2)

    def forward(self, images):
        return self.masks(self.features(images))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--images", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    images = torch.rand(args.images, 3, 64, 64)
    truths = (torch.rand(args.images, 6, 64, 64) > 0.8).float()
    batches = list(zip(images.split(2), truths.split(2)))
    model, metric = Head().cuda(), MeanPrecision()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        image, truth = batches[step % len(batches)]  # step
        truth = truth.cuda()  # fills
        logits = model(image.cuda())
        loss = F.binary_cross_entropy_with_logits(logits, truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metric.update(logits.detach(), truth)
        if (step + 1) % len(batches) == 0:
            print("epoch", step // len(batches), "precision", metric.compute())
            metric.reset()


if __name__ == "__main__":
    main()
