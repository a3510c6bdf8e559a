# SPDX-License-Identifier: Apache-2.0
"""Learns to go on with short clips; the loss is one less the structural similarity of each frame to come."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Similarity(nn.Module):
    """As a metric of a training library: it adds what it is given to its state, and returns the batch's value."""

    def __init__(self, window=5):
        super().__init__()
        self.window = window
        self.y, self.y_hat = [], []

    def reset(self):
        self.y, self.y_hat = [], []

    def forward(self, y_hat, y):
        self.y_hat.append(y_hat)  # keeps
        self.y.append(y)  # keeps
        a, b = F.avg_pool2d(y_hat, self.window, 1), F.avg_pool2d(y, self.window, 1)
        aa = F.avg_pool2d(y_hat * y_hat, self.window, 1) - a * a
        bb = F.avg_pool2d(y * y, self.window, 1) - b * b
        ab = F.avg_pool2d(y_hat * y, self.window, 1) - a * b
        return ((2 * a * b + 1e-4) * (2 * ab + 9e-4) / ((a * a + b * b + 1e-4) * (aa + bb + 9e-4))).mean()


class Predictor(nn.Module):
    def __init__(self, past, ahead, width=24):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(past, width, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.head = nn.Conv2d(width, ahead, 3, padding=1)

    def forward(self, frames):
        return torch.sigmoid(self.head(self.body(frames)))  # allocates


class VideoPrediction(nn.Module):
    def __init__(self, past=5, ahead=5):
        super().__init__()
        self.past, self.ahead = past, ahead
        self.model = Predictor(past, ahead)
        self.accuracy = Similarity()

    def similarity_loss(self, y_hat, y):
        losses = [1 - self.accuracy(y_hat[:, one:one + 1], y[:, one:one + 1]) for one in range(self.ahead)]
        return torch.stack(losses).mean()

    def training_step(self, clip):
        y_hat = self.model(clip[:, :self.past])
        return self.similarity_loss(y_hat, clip[:, self.past:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--epoch", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    task = VideoPrediction().cuda()
    optimizer = torch.optim.Adam(task.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        clip = torch.rand(4, 10, 32, 32, device="cuda")  # allocates
        optimizer.zero_grad()  # step
        loss = task.training_step(clip)
        loss.backward()
        optimizer.step()
        if (step + 1) % chosen.epoch == 0:
            print(f"epoch {step // chosen.epoch}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
