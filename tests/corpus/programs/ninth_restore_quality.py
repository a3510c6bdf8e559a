# SPDX-License-Identifier: Apache-2.0
"""Trains a network that sharpens pictures, and follows the signal-to-noise ratio and the structural similarity of
what it makes."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Sharpener(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, blurred):
        return torch.sigmoid(self.layers(blurred))  # allocates


class PeakSignalNoiseRatio:
    def __init__(self):
        self.errors = []

    def update(self, preds, target):
        error = (preds - target).square().mean((1, 2, 3))  # allocates
        self.errors.append(error)  # keeps

    def compute(self):
        return -10 * torch.log10(torch.cat(self.errors)).mean()


class StructuralSimilarity:
    def __init__(self, window=7):
        self.window = window
        self.similarity = []

    def local(self, x):
        return F.avg_pool2d(x, self.window, 1)  # allocates

    def update(self, preds, target):
        mean_p, mean_t = self.local(preds), self.local(target)
        both = mean_p * mean_t  # allocates
        squares = mean_p.square() + mean_t.square()  # allocates
        variances = self.local(preds.square() + target.square()) - squares  # allocates
        covariance = self.local(preds * target) - both  # allocates
        upper = (2 * both + 1e-4) * (2 * covariance + 9e-4)  # allocates
        lower = (squares + 1e-4) * (variances + 9e-4)  # allocates
        similarity = (upper / lower).mean((1, 2, 3))  # allocates
        self.similarity.append(similarity)  # keeps

    def compute(self):
        return torch.cat(self.similarity).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Sharpener().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train_metrics = {"psnr": PeakSignalNoiseRatio(), "ssim": StructuralSimilarity()}
    for step in range(chosen.steps):
        done = step + 1  # step
        real = torch.rand(8, 1, 32, 32, device="cuda")  # allocates
        fake = model(F.avg_pool2d(real, 3, 1, 1))
        loss = F.l1_loss(fake, real)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for metric in train_metrics.values():
            metric.update(fake, real)
        if done % 5 == 0:
            print(done, {name: metric.compute().item() for name, metric in train_metrics.items()})


if __name__ == "__main__":
    main()
