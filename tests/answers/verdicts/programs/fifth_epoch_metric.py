# SPDX-License-Identifier: Apache-2.0
"""A segmentation network and its score, a class written by hand that is reset at the end of each epoch."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class BoundaryScore:
    """Needs all of an epoch's masks, as the thresholds are chosen over all of them."""

    def __init__(self, thresholds=5):
        self.thresholds = torch.linspace(0.1, 0.9, thresholds).tolist()
        self.reset()

    def reset(self):
        self.probabilities, self.masks = [], []

    @torch.no_grad()
    def update(self, logits, masks):
        self.probabilities.append(logits.sigmoid())  # fills
        self.masks.append(masks)

    def compute(self):
        probabilities, masks = torch.cat(self.probabilities), torch.cat(self.masks)
        scores = [((probabilities > one) == (masks > 0.5)).float().mean() for one in self.thresholds]
        return torch.stack(scores).max().item()


class Trainer:
    def __init__(self, batches_per_epoch):
        self.batches_per_epoch = batches_per_epoch
        self.model = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 3, padding=1)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.score = BoundaryScore()

    def step(self, images, masks):
        logits = self.model(images)
        loss = F.binary_cross_entropy_with_logits(logits, masks)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.score.update(logits, masks)

    def end_epoch(self, epoch):
        print(epoch, self.score.compute())
        self.score.reset()


def drawn(count, size=32):
    images = torch.rand(count, 3, size, size)
    masks = torch.rand(count, 1, size, size).round()
    return images.cuda(), masks.cuda()  # fills


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=38)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer = Trainer(batches_per_epoch=14)
    for step in range(1, args.steps + 1):
        images, masks = drawn(16)  # step
        trainer.step(images, masks)
        if step % trainer.batches_per_epoch == 0:
            trainer.end_epoch(step // trainer.batches_per_epoch)


if __name__ == "__main__":
    main()
