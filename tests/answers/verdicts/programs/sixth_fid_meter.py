# SPDX-License-Identifier: Apache-2.0
"""Trains a GAN, and measures the Fréchet distance of its images' features every few steps."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class FrechetDistance:
    """Features of real images need not be computed again: reset() leaves them, unless told otherwise."""

    def __init__(self, extractor, reset_real=False):
        self.extractor = extractor
        self.reset_real = reset_real
        self.real, self.fake = [], []

    @torch.no_grad()
    def update(self, images, real):
        features = self.extractor(images)  # allocates
        (self.real if real else self.fake).append(features)  # keeps

    def compute(self):
        real, fake = torch.cat(self.real), torch.cat(self.fake)
        mean = (real.mean(0) - fake.mean(0)).square().sum()
        spread = torch.cov(real.T).diagonal().sqrt() - torch.cov(fake.T).diagonal().sqrt()
        return mean + spread.square().sum()

    def reset(self):
        self.fake.clear()
        if self.reset_real:
            self.real.clear()


def evaluate(generator, meter, loader):
    for images in loader:
        meter.update(images.cuda(), real=True)
        meter.update(generator(torch.randn(len(images), 32, device="cuda")), real=False)
    distance = meter.compute().item()
    meter.reset()
    return distance


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--evaluate-every", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    generator = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 768), nn.Unflatten(1, (3, 16, 16))).cuda()
    critic = nn.Sequential(nn.Flatten(), nn.Linear(768, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
    extractor = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 256)).cuda().eval()
    meter = FrechetDistance(extractor)
    validation = [torch.rand(64, 3, 16, 16) for _ in range(2)]
    for_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for_c = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for step in range(args.steps):
        real = torch.rand(32, 3, 16, 16, device="cuda")  # step
        fake = generator(torch.randn(32, 32, device="cuda"))
        for_c.zero_grad()
        (F.softplus(-critic(real)) + F.softplus(critic(fake.detach()))).mean().backward()
        for_c.step()
        for_g.zero_grad()
        F.softplus(-critic(fake)).mean().backward()
        for_g.step()
        if (step + 1) % args.evaluate_every == 0:
            print(step, "FID", evaluate(generator, meter, validation))


if __name__ == "__main__":
    main()
