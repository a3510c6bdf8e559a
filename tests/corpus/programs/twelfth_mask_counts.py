# SPDX-License-Identifier: Apache-2.0
"""Trains a segmentation of masks; hits and misses of each image are counted, and make one score per epoch."""

import argparse

import torch
from torch import nn

CLASSES = 5
TRAINING_BATCHES, VALIDATION_BATCHES = 3, 5


def counts(predicted, mask):
    """True and false positives and negatives of each image and class."""
    classes = torch.arange(CLASSES, device=mask.device).view(1, -1, 1, 1)
    predicted, true = predicted[:, None] == classes, mask[:, None] == classes
    tp = (predicted & true).sum((2, 3))  # fills
    fp = (predicted & ~true).sum((2, 3))  # fills
    fn = (~predicted & true).sum((2, 3))  # fills
    tn = (~predicted & ~true).sum((2, 3))  # fills
    return {"tp": tp, "fp": fp, "fn": fn, "tn": tn}


class MaskModel:
    def __init__(self):
        self.network = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, CLASSES, 1)).cuda()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.criterion = nn.CrossEntropyLoss()
        self.validation_step_outputs = []

    def batch(self):
        return torch.randn(48, 3, 12, 12, device="cuda"), torch.randint(0, CLASSES, (48, 12, 12), device="cuda")

    def training_step(self):
        image, mask = self.batch()
        self.optimizer.zero_grad()
        self.criterion(self.network(image), mask).backward()
        self.optimizer.step()

    @torch.no_grad()
    def validation_step(self):
        image, mask = self.batch()
        self.validation_step_outputs.append(counts(self.network(image).argmax(1), mask))

    def on_validation_epoch_end(self):
        tp, fp, fn = (torch.cat([one[key] for one in self.validation_step_outputs]) for key in ("tp", "fp", "fn"))
        score = tp.sum() / (tp + fp + fn).sum().clamp(min=1)
        self.validation_step_outputs.clear()
        return score.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = MaskModel()
    for step in range(chosen.steps):
        epoch, batch = divmod(step, TRAINING_BATCHES + VALIDATION_BATCHES)  # step
        if batch < TRAINING_BATCHES:
            model.training_step()
        else:
            model.validation_step()
        if batch == TRAINING_BATCHES + VALIDATION_BATCHES - 1:
            print(f"epoch {epoch}: score {model.on_validation_epoch_end():.3f}")


if __name__ == "__main__":
    main()
