# SPDX-License-Identifier: Apache-2.0
"""Translates images with a generator and a discriminator, and measures the translations as it trains."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class SignalToNoise(nn.Module):
    def __init__(self):
        super().__init__()
        self.reset()

    def reset(self):
        self.sum_squared_error, self.total = torch.tensor(0.0, device="cuda"), 0

    def forward(self, prediction, target):
        difference = prediction - target  # allocates
        squared = torch.sum(difference ** 2)
        self.sum_squared_error += squared  # keeps
        self.total += target.numel()
        return 10 * torch.log10(target.numel() / squared)


class Similarity(nn.Module):
    """Covariance of windows over their spread: the part of structural similarity that sees structure."""

    def __init__(self, window=5):
        super().__init__()
        self.window = window
        self.reset()

    def reset(self):
        self.similarity, self.total = torch.tensor(0.0, device="cuda"), 0

    def forward(self, prediction, target):
        covariance = F.avg_pool2d(prediction * target, self.window)  # allocates
        spread = F.avg_pool2d(prediction.square() + target.square(), self.window)  # allocates
        value = (2 * covariance + 1e-3) / (spread + 1e-3)  # allocates
        self.similarity += value.sum()  # keeps
        self.total += value.numel()
        return value.mean()


class Translation:
    def __init__(self, width=12):
        self.generator = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(),
                                       nn.Conv2d(width, 3, 3, padding=1), nn.Tanh()).cuda()
        self.discriminator = nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2),
                                           nn.Conv2d(width, 1, 4, 2, 1)).cuda()
        self.train_metrics = {"psnr": SignalToNoise(), "ssim": Similarity()}
        self.of_generator = torch.optim.Adam(self.generator.parameters(), lr=2e-4)
        self.of_discriminator = torch.optim.Adam(self.discriminator.parameters(), lr=2e-4)

    def training_step(self, real_a, real_b):
        self.of_generator.zero_grad()
        fake = self.generator(real_a)  # allocates
        loss = (self.discriminator(fake) - 1).square().mean() + 10 * (fake - real_b).abs().mean()
        loss.backward()
        self.of_generator.step()

        self.of_discriminator.zero_grad()
        judged = self.discriminator(fake.detach()).square().mean() + (self.discriminator(real_b) - 1).square().mean()
        judged.backward()
        self.of_discriminator.step()
        return {name: metric(fake, real_b).item() for name, metric in self.train_metrics.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    task = Translation()
    for _ in range(chosen.steps):
        real_a = torch.rand(4, 3, 32, 32, device="cuda")  # step
        real_b = torch.rand(4, 3, 32, 32, device="cuda")  # allocates
        measured = task.training_step(real_a, real_b)
    print({name: round(value, 3) for name, value in measured.items()})


if __name__ == "__main__":
    main()
